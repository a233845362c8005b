"""Servers as processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "a-token-for-processes-0123456789abcdef"  # noqa: S105
FERRYMAN = [sys.executable, "-W", "error", "-m", "ferryman.cli.main"]


class Serve(Protocol):
    """Starts a command that serves; the process, and its port and one-time token."""

    def __call__(
        self, *words: str, **environ: str
    ) -> tuple[subprocess.Popen[str], int, str | None]: ...


def variables(**environ: str) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("FERRYMAN_")}
    return {**kept, **environ}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    processes: list[subprocess.Popen[str]] = []

    def start(*words: str, **environ: str) -> tuple[subprocess.Popen[str], int, str | None]:
        process = subprocess.Popen(
            [*FERRYMAN, *words],
            cwd=tmp_path,
            env=variables(**environ),
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stderr is not None
        said = process.stderr.readline()
        port = re.search(r"serving http://[^ ]+:(\d+)", said)
        assert port is not None, said + process.stderr.read()
        invited = None if "FERRYMAN_TOKEN" in environ else process.stderr.readline()
        token = re.search(r"#token=(\S+)", invited or "")
        return process, int(port[1]), None if token is None else token[1]

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()
