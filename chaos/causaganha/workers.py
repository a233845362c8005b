"""The worker processes of a passage, and their ends."""

from __future__ import annotations

import logging
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

from causaganha.app import CausaGanha

if TYPE_CHECKING:
    import random
    from multiprocessing.process import BaseProcess

    from causaganha.settings import Settings


class Workers:
    """So many at a time, forked from one that has imported everything: a second is a short life."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["causaganha.cli", "google.genai", __name__])
        self._settings = settings
        self._count = count
        self._alive: list[BaseProcess] = []
        self.kills = 0

    def strike(self, chance: random.Random) -> None:
        """SIGKILL for one of them, and another in its place."""
        worker = self._alive.pop(chance.randrange(len(self._alive)))
        ended = worker.exitcode
        _kill(worker)
        if ended is not None:
            raise RuntimeError(f"a worker ended by itself with code {ended}: see what it said")
        self.kills += 1
        self._hire()

    def _hire(self) -> None:
        worker = self._context.Process(target=_work, args=(self._settings,))
        worker.start()
        self._alive.append(worker)

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self._hire()
        return self

    def __exit__(self, *_: object) -> None:
        while self._alive:
            _kill(self._alive.pop())


def _kill(worker: BaseProcess) -> None:
    worker.kill()
    worker.join()
    worker.close()


def _work(settings: Settings) -> None:
    # That Gemini's inventions are set aside is what should happen here, hundreds of times.
    logging.getLogger("causaganha").setLevel(logging.ERROR)
    with CausaGanha(settings) as app:
        app.worker().run()
