"""The one seam for logs, metrics, hooks and the live feed: code emits, they subscribe."""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANY = "*"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: a dotted name and its facts."""

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, fact: str) -> Any:
        return self.facts[fact]


class Events:
    """Hands each event to its subscribers, in the emitting thread.

    A subscriber that raises is logged and never disturbs the engine.
    """

    def __init__(self) -> None:
        self._subscribers: dict[str, list[Callable[[Event], object]]] = defaultdict(list)

    def subscribe(self, name: str, subscriber: Callable[[Event], object]) -> Callable[[], None]:
        """Call `subscriber` for each event of that name (`*`: all). Returns the way to stop it."""
        self._subscribers[name].append(subscriber)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._subscribers[name].remove(subscriber)

        return stop

    @property
    def heard(self) -> bool:
        """Whether anyone listens to anything."""
        return any(self._subscribers.values())

    def wanted(self, name: str) -> bool:
        """Whether anyone listens: lets hot paths skip building facts."""
        return bool(self._subscribers.get(name) or self._subscribers.get(ANY))

    def emit(self, name: str, **facts: Any) -> None:
        if not self.wanted(name):
            return
        event = Event(name, facts)
        for subscriber in [*self._subscribers.get(name, ()), *self._subscribers.get(ANY, ())]:
            try:
                subscriber(event)
            except Exception:
                logging.getLogger("ferryman.events").exception("subscriber of %s raised", name)
