"""A store whose user dies at chosen calls, just before or just after they are done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.queue.contract import Backend


class Died(BaseException):
    """The process is gone; nothing that it wanted to do any more happens."""


class Mortal:
    """Any backend. `deaths` are numbers of calls between two deaths; odd ones die afterwards."""

    def __init__(self, backend: Backend, deaths: Iterable[int]) -> None:
        self._backend = backend
        self._deaths = iter(deaths)
        self._left = next(self._deaths, None)
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backend, name)
        return self._call(found) if callable(found) else found

    def _call(self, verb: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            dies = self._dies()
            if dies == "before":
                raise Died
            answer = verb(*args, **kwargs)
            if dies == "after":
                raise Died
            return answer

        return call

    def _dies(self) -> str | None:
        if self.dead:
            return "before"
        if self._left is None:
            return None
        self._left -= 2
        if self._left >= 0:
            return None
        self.dead = True
        return "after" if self._left % 2 else "before"

    def revive(self) -> None:
        """Another process takes over; its own death is next."""
        self.dead = False
        self._left = next(self._deaths, None)
