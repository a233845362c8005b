"""What a producer pushes, step by step, and what the handlers will do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from chaos.cast import HANDOFF, ROUGH, SWIFT
from ferryman import Backoff, Message

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

    from chaos.cast import Cast

GENEROUS: Final = 60
"""Attempts of a job that is meant to survive: kills and expired leases are charged."""
BACKOFF: Final = Backoff(base=0.03, cap=0.4).text()
"""Soon again, so that everything ends in time."""

_NEED_A_RECORD: Final = ("careful", "careful_async", "drowsy", "quitting")
"""Tasks with checkpoints, with claims that are not charged, or with an end without a trace."""
_PLAIN: Final = ("priority", "timeout", "delay", "id")


@dataclass(frozen=True, slots=True)
class Planned:
    """One message. `token` names it in its payload, whatever id its job gets."""

    token: str
    task: str
    queue: str
    payload: Mapping[str, Any]
    max_attempts: int
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str | None:
        """The id that the producer gave; None: the library makes one."""
        return self.options.get("id")

    def message(self) -> Message:
        """A message as it is pushed; without a given id, another one each time."""
        return Message.of(
            self.queue,
            self.task,
            dict(self.payload),
            max_attempts=self.max_attempts,
            backoff=BACKOFF,
            **self.options,
        )


@dataclass(frozen=True, slots=True)
class Push:
    """One call of `push`, at `at` seconds. `repeat`: pushed again if its outcome is unknown."""

    at: float
    messages: tuple[Planned, ...]
    repeat: bool


def script(chance: random.Random, producer: str, seconds: float, cast: Cast) -> Iterator[Push]:
    """The steps of one producer, spread over `seconds`."""
    pace = cast.pace
    for step in range(max(5, round(seconds * pace.steps))):
        size = chance.choice([1, 1, 1, 2, 5])
        messages = tuple(_planned(chance, f"{producer}.{step}.{n}", cast) for n in range(size))
        # Only the same ids make a repetition safe.
        repeat = all(one.id is not None for one in messages) and chance.random() < 0.8
        yield Push(step / pace.steps, messages, repeat)


def _planned(chance: random.Random, token: str, cast: Cast) -> Planned:
    task, queue, work, timeout = _work(chance)
    while cast.plain and task in _NEED_A_RECORD:
        task, queue, work, timeout = _work(chance)
    attempts = chance.choice([1, 2, 3]) if chance.random() < 0.12 else GENEROUS
    if task == "doomed":
        attempts = chance.choice([1, 2, 3, 4])
    priority = chance.choice([-10, 0, 0, 10])
    options = {"priority": priority, **timeout, **_options(chance, token, cast.pace.stretch)}
    if cast.plain:
        options = {name: value for name, value in options.items() if name in _PLAIN}
    return Planned(token, task, queue, {"token": token, **work}, attempts, options)


def _work(chance: random.Random) -> tuple[str, str, dict[str, Any], dict[str, float]]:
    """A task, its queue, the handler's orders, and a timeout where the handler will exceed it."""
    seconds = round(chance.choice([0.0, 0.02, 0.1, 0.5]) * chance.random(), 4)
    times = chance.choice([1, 1, 2, 3])
    style = chance.choice(["", "_async"])
    orders: list[tuple[int, str, str, dict[str, Any], dict[str, float]]] = [
        (34, f"brief{style}", SWIFT, {"seconds": seconds}, {}),
        (10, f"parent{style}", SWIFT, {"children": times}, {}),
        (16, "handover", HANDOFF, {"seconds": seconds / 2, "children": times}, {}),
        (10, f"flaky{style}", ROUGH, {"seconds": seconds / 2, "times": times}, {}),
        (10, f"careful{style}", ROUGH, {"seconds": seconds / 2, "steps": 2 + times}, {}),
        (7, "drowsy", ROUGH, {"seconds": seconds, "times": times}, {}),
        (5, f"slow{style}", ROUGH, {"seconds": 0.3, "times": 1}, {"timeout": 0.12}),
        (4, "doomed", ROUGH, {"seconds": seconds / 2}, {}),
        (2, "hopeless", ROUGH, {"seconds": seconds / 2}, {}),
        (2, "quitting", ROUGH, {"seconds": seconds / 2}, {}),
    ]
    _, task, queue, work, timeout = chance.choices(orders, [order[0] for order in orders])[0]
    return task, queue, work, timeout


def _options(chance: random.Random, token: str, stretch: float) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if chance.random() < 0.2:
        options["delay"] = round(chance.uniform(0.05, 1.5) * stretch, 4)
    if chance.random() < 0.04:
        options["expires"] = round(chance.uniform(0.2, 0.9) * stretch, 4)
    if chance.random() < 0.06:
        options["key"] = f"key-{chance.randrange(12)}"
        options["unique"] = chance.choice(["unfinished", "waiting"])
    elif chance.random() < 0.8:
        options["id"] = token
    return options
