"""A queue shown as an SQL table: which columns there are, and what each of them holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast, get_args, runtime_checkable

from ferryman.errors import InvalidView
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["text", "integer", "real", "boolean", "json", "time"]

FIELDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("id", "queue", "task", "state", "worker", "key", "error", "note"), "text"),
    **dict.fromkeys(("correlation_id", "tenant"), "text"),
    **dict.fromkeys(("seq", "priority", "attempts", "max_attempts", "generation"), "integer"),
    **dict.fromkeys(("retries", "max_retries", "progress"), "integer"),
    **dict.fromkeys(("created_at", "ready_at", "started_at", "finished_at"), "time"),
    **dict.fromkeys(("heartbeat_at", "expires_at", "deadline", "updated_at"), "time"),
    **dict.fromkeys(("payload", "result", "meta"), "json"),
}
"""What a column can show. `retries` are the attempts after the first, `progress` is whole percents,
`updated_at` the last of created, started, heartbeat and finished."""

DOCUMENTS: Final = ("payload", "result", "meta")

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a field of the job, or what lies at `path` in one of its documents.

    `states`, where given, are other names for the states.
    """

    name: str
    field: str
    path: tuple[str, ...]
    kind: Kind
    states: Mapping[State, str]

    @property
    def pending(self) -> str:
        """What a pending job is called in it."""
        return self.states.get(State.PENDING, State.PENDING)

    @classmethod
    def of(cls, name: str, source: str | Mapping[str, str]) -> Column:
        """Read `attempts`, `payload.year:integer`, or `{"processing": "running"}`."""
        _check_name("column", name)
        if not isinstance(source, str):
            return cls(name, "state", (), "text", _states(name, source))
        place, _, kind = source.partition(":")
        field, *path = place.split(".")
        if field not in FIELDS or (path and field not in DOCUMENTS) or not _is_path(path):
            known = ", ".join(FIELDS)
            raise InvalidView(
                f"column {name!r}: {source!r} is neither payload.x nor one of {known}"
            )
        if kind and kind not in get_args(Kind):
            raise InvalidView(
                f"column {name!r}: {kind!r} is no type: use {', '.join(get_args(Kind))}"
            )
        usual = "text" if path else FIELDS[field]
        return cls(name, field, tuple(path), cast("Kind", kind or usual), {})


@dataclass(frozen=True, slots=True)
class View:
    """A table name, the queue that it shows, its columns, and the task of jobs inserted there."""

    name: str
    queue: str
    columns: tuple[Column, ...]
    task: str

    @classmethod
    def of(
        cls, name: str, queue: str, columns: Mapping[str, str | Mapping[str, str]], task: str
    ) -> View:
        _check_name("view", name)
        if not columns:
            raise InvalidView(f"view {name!r} has no columns")
        return cls(name, queue, tuple(Column.of(*each) for each in columns.items()), task)


@runtime_checkable
class Viewable(Protocol):
    """A backend on a database that others may query."""

    def create_view(self, view: View) -> None:
        """Make the view, or make it anew where it differs; refused where the name is taken."""
        ...


def _is_path(parts: Sequence[str]) -> bool:
    return all(part and not {'"', "\\", "'", "\0"} & {*part} for part in parts)


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidView(f"{what} {name!r}: use letters, digits and _, at most 63")


def _states(column: str, names: Mapping[str, str]) -> Mapping[State, str]:
    try:
        return {State(state): name for state, name in names.items()}
    except ValueError as error:
        raise InvalidView(f"column {column!r}: {error}: use {', '.join(State)}") from None
