"""`lease.json` in the bucket: a job's only object that changes, and so the judge of every race.

It says whether the job is leased, free or done, and everything that changed since its task was
written. A done one holds the whole finished record: writing it is the commit of an ack.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import (
    Unreadable,
    add_history,
    history_text,
    parse,
    record_text,
    row_of,
    task_text,
)
from ferryman.backends.files.moments import moment_of, text_of
from ferryman.backends.files.names import name_of
from ferryman.backends.files.names import text_of as id_of
from ferryman.backends.files.row import Row
from ferryman.ids import new_id
from ferryman.job import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.sight import Sight

TORN: Final = 60.0
"""Seconds after its last change for which an unreadable `lease.json` counts as a lease."""
# A day from the ends of the calendar: relaxed nodes move times by what their clocks differ.


class Standing(StrEnum):
    """`leased`: somebody runs it. `free`: it waits. `done`: it ended. `gone`: it was deleted."""

    LEASED = "leased"
    FREE = "free"
    DONE = "done"
    GONE = "gone"


@dataclass(slots=True)
class Hold:
    """One version of `lease.json`.

    `task` is the etag of the `task.json` that it belongs to: with another one there, it tells of an
    earlier life of the id and counts as free. `change` counts its versions. `at` is when it was
    written, by the store's clock.
    """

    standing: Standing
    task: str | None
    change: int
    at: float
    generation: int = 1
    turn: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.standing in (Standing.DONE, Standing.GONE)

    @classmethod
    def read(cls, found: Object) -> Hold:
        """What an object holds; one that nobody can read is a lease of nobody, by its age."""
        try:
            facts = parse(found.body)
            if facts["state"] == Standing.GONE:
                facts = {"records": [], "seq": 0} | facts
            hold = cls(
                Standing(facts["state"]),
                facts["task_etag"],
                int(facts["change"]),
                moment_of(facts["at"]),
                int(facts["generation"]),
                int(facts.get("turn", 0)),
                facts,
            )
            hold.check()
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            # Later than every version that was seen: seconds are more than changes ever were.
            change = int(found.modified)
            return cls(Standing.LEASED, None, change, found.modified, facts={})
        return hold

    def check(self) -> None:
        """Raise one of many errors where a fact is not what those who use it take it for."""
        row, facts = Row("-", "-", "-", "null"), self.facts
        _check_texts(self.task)
        if self.standing is Standing.DONE:
            row_of(facts["record"], "-", "-")
        elif self.standing is Standing.GONE:
            _check_texts(*facts["records"])
            int(facts["seq"])
            if moved := facts.get("moved"):
                _check_texts(moved["queue"])
                row_of(parse(moved["task"].encode()), "-", "-")
        else:
            self.tell(row)
            _check_texts(row.worker or "")
            if replaced := facts.get("replaced"):
                row_of(replaced, "-", "-")

    def tell(self, row: Row) -> None:
        """Let it say what happened to a job that is not over."""
        if not self.facts:
            # Nobody knows how often it was claimed: seconds are more than claims ever were.
            row.state, row.fence = State.PROCESSING, int(self.at)
            row.attempts += 1
            row.heartbeat_at, row.expires_at = self.at, self.at + TORN
            return
        add_history(row, self.facts)
        if self.standing is Standing.LEASED:
            row.state = State.PROCESSING
            row.worker = self.facts["worker_id"]
            row.heartbeat_at = moment_of(self.facts["heartbeat_at"])
            row.expires_at = moment_of(self.facts["expires_at"])
            asked = self.facts.get("asked")
            row.asked = asked if asked in ("cancel", "pause") else None


def hold_text(row: Row, task: str, change: int, now: float, turn: int = 0) -> bytes:
    """The next version of a job's `lease.json`: leased, free or done as the row's state says."""
    if row.state.terminal:
        record = record_text(row).decode().replace("\n", "\n  ").rstrip()
        head = _head(Standing.DONE, row, task, change, now)
        return f'{head},\n  "record": {record}\n}}\n'.encode()
    leased = row.state is State.PROCESSING
    text = _head(Standing.LEASED if leased else Standing.FREE, row, task, change, now)
    if leased:
        text += (
            f',\n  "worker_id": {quoted(row.worker or "")},\n  "turn": {turn},\n'
            f'  "heartbeat_at": "{text_of(row.heartbeat_at or now)}",\n'
            f'  "expires_at": "{text_of(row.expires_at or now)}"'
        )
        if row.asked is not None:
            text += f',\n  "asked": "{row.asked}"'
    if row.revision:
        replaced = task_text(row).decode().replace("\n", "\n  ").rstrip()
        text += f',\n  "replaced": {replaced}'
    return f"{text},\n{_inside(history_text(row))}\n}}\n".encode()


def gone_text(
    sight: Sight, change: int, now: float, moved: Mapping[str, Any] | None = None
) -> bytes:
    """The version that says: deleted, or moved with its task to another queue.

    It names the records that go along, and the job's place in the push order: a record or a task
    that is another is another life of the id.
    """
    head = _head(Standing.GONE, sight.row, sight.task or "", change, now)
    head += f',\n  "seq": {sight.row.seq}'
    head += f',\n  "records": {json.dumps(list(sight.records.values()))}'
    if moved is not None:
        head += f',\n  "moved": {json.dumps(moved, ensure_ascii=False)}'
    return f"{head}\n}}\n".encode()


def task_object(row: Row) -> bytes:
    """`task.json` for the bucket: like a file's, and different from every other that was written.

    A job with a past (retried, restored) carries it along.
    """
    text = _inside(task_text(row))
    if row.own_facts:
        facts = parse(task_text(row)) | parse(history_text(row))
        text = _inside(json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n")
    return f'{{\n  "nonce": "{new_id()}",\n{text}\n}}\n'.encode()


def row_of_task(facts: Mapping[str, Any], queue: str, name: str) -> Row:
    """The job as its `task.json` alone tells it."""
    row = row_of(facts, queue, id_of(name))
    if "generation" in facts:
        add_history(row, facts)
    return row


def row_of_record(content: bytes, queue: str, name: str, state: State) -> Row:
    """A finished record; `Unreadable` for what is none."""
    row = row_of(parse(content), queue, id_of(name))
    check_row(row, name)
    row.state = state
    return row


def check_row(row: Row, name: str) -> None:
    """Refuse a copy under another name: what is done to the one would be done to the other."""
    if name_of(row.id) != name:
        raise Unreadable(f"it is about job {row.id!r}, which has another name")


def _head(standing: Standing, row: Row, task: str, change: int, now: float) -> str:
    generation = f',\n  "generation": {row.generation}' if standing in _ENDED else ""
    return (
        f'{{\n  "state": "{standing}",\n  "nonce": "{new_id()}",\n'
        f'  "task_etag": {quoted(task)},\n  "change": {change},\n  "at": "{text_of(now)}"'
        f"{generation}"
    )


_ENDED: Final = (Standing.DONE, Standing.GONE)


def _check_texts(*values: object) -> None:
    if not all(isinstance(value, str) for value in values):
        raise TypeError


def _inside(text: bytes) -> str:
    """The lines between the braces."""
    return text.decode().strip().removeprefix("{").removesuffix("}").strip("\n")
