"""Many requests that are made up from the API's description, on a store with real jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry
from ferryman.web import asgi
from ferryman.web.server import Server
from tests.web.fuzz import fuzz

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-that-only-the-tests-know-0123456789"  # noqa: S105


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_no_request_causes_a_server_error(kind: str, tmp_path: Path) -> None:
    url = "memory://" if kind == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url) as ferry:
        for number in range(100):
            ferry.push("send", {"n": number}, queue="mail")
        with Server(asgi(ferry, token=TOKEN, rate=100_000.0), "127.0.0.1", 0) as server:
            ran = fuzz(
                server.port,
                TOKEN,
                examples=10,
                folder=tmp_path,
                phases="examples,coverage,fuzzing",
            )
    assert ran.returncode == 0, ran.stdout[-5_000:]
