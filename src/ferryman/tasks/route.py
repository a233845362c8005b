"""Stages joined by `>>`: what a pipeline is made of, before anything is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args

from ferryman.errors import TaskError

if TYPE_CHECKING:
    from ferryman.tasks.task import Task

Failed = Literal["wait", "skip", "fail"]
Joinable = Union["Task[..., Any]", "Route", str, Sequence["Joinable"]]
"""A task, a route, a task's name, or several of them side by side."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A stage as it stands in a route; `task` is None where only its name was given."""

    name: str
    task: Task[..., Any] | None = None
    collects: Failed | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """Mentions of stages, the edges between them, and where others can be joined."""

    mentions: tuple[Mention, ...]
    edges: tuple[tuple[str, str], ...]
    heads: tuple[str, ...]
    tails: tuple[str, ...]

    @classmethod
    def of(cls, part: Joinable) -> Route:
        """One task, its name, or several parts side by side, as a route."""
        if isinstance(part, Route):
            return part
        if isinstance(part, str):
            return cls((Mention(part),), (), (part,), (part,))
        if isinstance(part, Sequence):
            return cls._beside([cls.of(each) for each in part])
        if not hasattr(part, "signature"):
            raise TaskError(f"{part!r} is no stage: use a task, its name, or a list of them")
        return cls((Mention(part.name, part),), (), (part.name,), (part.name,))

    @classmethod
    def _beside(cls, routes: Sequence[Route]) -> Route:
        if not routes:
            raise TaskError("an empty list of stages leads nowhere")
        return cls(
            tuple(mention for route in routes for mention in route.mentions),
            tuple(edge for route in routes for edge in route.edges),
            tuple(dict.fromkeys(name for route in routes for name in route.heads)),
            tuple(dict.fromkeys(name for route in routes for name in route.tails)),
        )

    def __rshift__(self, following: Joinable) -> Route:
        route = Route.of(following)
        joined = tuple((tail, head) for tail in self.tails for head in route.heads)
        return Route(
            self.mentions + route.mentions,
            self.edges + joined + route.edges,
            self.heads,
            route.tails,
        )

    def __rrshift__(self, preceding: Joinable) -> Route:
        return Route.of(preceding) >> self


def collect(task: Task[..., Any] | str, *, failed: Failed = "wait") -> Route:
    """A stage that runs once in a run, with the list of what the stages before it returned.

    It runs when every job of all stages that lead to it has ended. `failed` says what becomes of
    it if some of them failed or were cancelled: `wait` until they are retried and complete, `skip`
    them, or `fail`.
    """
    if failed not in get_args(Failed):
        raise TaskError(f"failed={failed!r}: use {', '.join(get_args(Failed))}")
    [mention] = Route.of(task).mentions
    name = mention.name
    return Route((Mention(name, mention.task, failed),), (), (name,), (name,))
