"""A real `ferryman serve` over a store, with a worker and a producer beside it if asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.visitor import Visitor
from bench.web_app import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
TOKEN: Final = "a-token-of-the-web-benchmark-0123456789"  # noqa: S105
STOP: Final = 40.0
PACE: Final = 500
"""Jobs a second that are pushed and run beside the reads."""


class Site:
    """A server of its own process; its store is asked by nobody else."""

    def __init__(self, url: str, port: int, calls: Path) -> None:
        self.url = url
        self._port = port
        self._calls = calls

    def visitor(self) -> Visitor:
        """One who has logged in, as a browser does."""
        return Visitor.logged_in(self._port, TOKEN)

    def reader(self) -> Visitor:
        """A program with the server's token."""
        return Visitor(self._port, {"Authorization": f"Bearer {TOKEN}"})

    @property
    def asked(self) -> int:
        """Questions to the store so far: verbs of the contract that were called."""
        return self._calls.stat().st_size


@contextmanager
def serving(url: str) -> Iterator[Site]:
    """The server, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="ferryman-web-") as folder, ExitStack() as stack:
        calls = Path(folder) / "calls"
        calls.touch()
        command = ["serve", "--port", "0", "--rate", "1000000", "--app", "bench.web_app:ferry"]
        server = stack.enter_context(_running(_ferryman(command), url, {CALLS: str(calls)}))
        said = server.stderr.readline() if server.stderr is not None else ""
        found = re.search(r"serving http://[^ ]+:(\d+)", said)
        if found is None:
            raise RuntimeError(f"the server did not start: {said}")
        yield Site(url, int(found[1]), calls)


@contextmanager
def work_beside(url: str) -> Iterator[None]:
    """A worker, and a producer that pushes for it at `PACE`."""
    with ExitStack() as stack:
        paced = [sys.executable, "-m", "bench.paced"]
        worker = stack.enter_context(_running([*paced, "work"], url))
        producer = stack.enter_context(_running([*paced, "push", str(PACE)], url))
        yield
        for process in (worker, producer):
            if process.poll() is not None:
                raise RuntimeError(f"{process.args!r} ended with code {process.returncode}")


def _ferryman(words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "ferryman.cli.main", *words]


@contextmanager
def _running(
    command: Sequence[str], url: str, environ: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "FERRYMAN_URL": url}
    variables |= {"FERRYMAN_TOKEN": TOKEN, **(environ or {})}
    stderr = subprocess.PIPE if environ else subprocess.DEVNULL
    process = subprocess.Popen(
        command, env=variables, stdout=subprocess.DEVNULL, stderr=stderr, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()
