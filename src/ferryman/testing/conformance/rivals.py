"""Other processes that a case sets against each other."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Self

HERE = Path(__file__).parent


class Rival:
    """One process that obeys `racer`'s commands; `send` starts one, `answer` waits for its end.

    Python is started with the first command, so an unused rival costs nothing.
    """

    def __init__(self) -> None:
        self._process: Popen[str] | None = None

    def send(self, url: str, do: str, **facts: Any) -> None:
        if self._process is None:
            self._process = start("racer.py")
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"url": url, "do": do, **facts}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the other process died, see its error output"
        return json.loads(line)

    def ask(self, url: str, do: str, **facts: Any) -> Any:
        self.send(url, do, **facts)
        return self.answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            # The racer's input ends here, and so does the racer.
            self._process.communicate(timeout=10)


def start(program: str, *arguments: str) -> Popen[str]:
    """Start a program that lies beside this file, without its folder on the import path."""
    command = [sys.executable, "-P", str(HERE / program), *arguments]
    return Popen(command, stdin=PIPE, stdout=PIPE, text=True)
