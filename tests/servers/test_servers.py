"""The servers themselves: shared while used, gone afterwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from ferryman.testing.waiting import wait_until
from tests.servers import kinds
from tests.servers.shared import ROOT, Server

if TYPE_CHECKING:
    from pathlib import Path


def listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5).close()
    except OSError:
        return False
    return True


def test_all_who_name_a_folder_share_one_server(tmp_path: Path) -> None:
    with Server("rclone", tmp_path) as first, Server("rclone", tmp_path) as second:
        assert first.address == second.address


def test_a_server_lives_until_its_last_user_has_gone(tmp_path: Path) -> None:
    first = Server("rclone", tmp_path)
    second = Server("rclone", tmp_path)
    first.close()
    assert listens(second.address)
    second.close()
    wait_until(lambda: not listens(second.address), what="the server to end")


def test_a_server_is_started_anew_after_it_ended(tmp_path: Path) -> None:
    for _ in range(3):
        with Server("rclone", tmp_path) as server:
            assert listens(server.address)


def test_a_server_ends_when_its_only_user_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.servers.shared import Server; "
        "server = Server('rclone', Path(sys.argv[1])); "
        "print(server.address, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as user:
        assert user.stdout is not None
        address = user.stdout.readline().strip()
        assert listens(address)
        os.kill(user.pid, signal.SIGKILL)
    wait_until(lambda: not listens(address), what="the server to end")


def test_a_missing_program_is_an_error_that_says_how_to_get_it() -> None:
    with pytest.raises(FileNotFoundError, match="make test"):
        kinds.program("no-such-server")


def test_its_log_outlives_a_server(tmp_path: Path) -> None:
    with Server("rclone", tmp_path) as server:
        pass
    wait_until(lambda: not listens(server.address), what="the server to end")
    assert "Starting s3 server" in server.log
