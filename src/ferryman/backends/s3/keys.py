"""Which jobs of a queue carry a key: one object for each key, changed by compare-and-set.

It lists the ids that used the key, and the task of the latest one (`intent`), written there before
the job appears. Whoever finds an intent whose job is not there yet lets it enter first: of two
pushes with one key the second never overlooks the first, and nobody waits for a process that died.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import parse
from ferryman.backends.files.names import name_of
from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.entry import enter_text
from ferryman.backends.s3.errors import Overtaken, UnreadableObject
from ferryman.backends.s3.hold import row_of_task
from ferryman.backends.s3.sight import see
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.ids import new_id
from ferryman.job import WAITING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight
    from ferryman.message import Unique

INTENT: Final = 600.0
"""Seconds for which others let an announced job enter; a push gives up long before."""
FINISHED_KEPT: Final = 20
"""Finished jobs that are remembered for a key; `unique` in seconds asks for them."""
_TRIES: Final = 30


@dataclass(slots=True)
class Ledger:
    """One key's object as it was read."""

    etag: str | None = None
    jobs: list[dict[str, Any]] = field(default_factory=list)
    intent: dict[str, Any] | None = None


class Key:
    """One key of a queue."""

    def __init__(self, node: Node, queue: str, key: str) -> None:
        self._node = node
        self._queue = queue
        self._key = key
        self._place = node.home.key(queue, key)

    def take(self, unique: Unique, job_id: str, created_at: float, task: bytes) -> Sight | None:
        """Announce a job's task under the key; or the newest job that stands in its way."""
        for _ in range(_TRIES):
            ledger = self._read()
            holder = self._holder(ledger, unique, job_id)
            if holder is not None:
                return holder
            if self._announce(ledger, job_id, created_at, task):
                return None
        raise self._crowded()

    def holder(self, unique: Unique, job_id: str) -> Sight | None:
        """The newest job that stands in the way of this one, if it were pushed now."""
        return self._holder(self._read(), unique, job_id)

    def add(self, job_id: str, created_at: float) -> None:
        """Write down that a job which exists has the key, whoever else has it."""
        for _ in range(_TRIES):
            if self._announce(self._read(), job_id, created_at, None):
                return
        raise self._crowded()

    def _crowded(self) -> BackendUnavailable:
        return BackendUnavailable(
            f"the key {self._key!r} of queue {self._queue!r} is used by many at once: try again"
        )

    def _holder(self, ledger: Ledger, unique: Unique, job_id: str) -> Sight | None:
        now = self._node.store.now()
        for sight in self._sights(ledger, unique, now):
            row = sight.row
            if row.id == job_id:
                continue
            if isinstance(unique, int | float):
                if row.created_at > now - unique:
                    return sight
            elif not row.state.terminal and (unique == "unfinished" or row.state in WAITING):
                return sight
        return None

    def _sights(self, ledger: Ledger, unique: Unique, now: float) -> Iterator[Sight]:
        """The jobs that have the key and may matter, the newest first; marks those that ended."""
        for job in sorted(ledger.jobs, key=lambda job: -job["created_at"]):
            timed = isinstance(unique, int | float)
            if (timed and job["created_at"] <= now - float(unique)) or (
                not timed and job["finished"]
            ):
                continue
            try:
                sight = see(self._node, self._queue, name_of(job["id"]))
                task = _awaited(ledger, job["id"], sight, now)
                if task is not None:
                    enter_text(self._node, self._queue, name_of(job["id"]), task)
                    sight = see(self._node, self._queue, name_of(job["id"]))
            except UnreadableObject as unreadable:
                if unreadable.ended is None:
                    continue  # nobody runs it; should it be corrected, it has its key again
                sight = unreadable.ended
            if sight is None or sight.gone or sight.row.key != self._key:
                job["finished"] = True
                continue
            job["finished"] = sight.row.state.terminal
            yield sight

    def _announce(self, ledger: Ledger, job_id: str, created_at: float, task: bytes | None) -> bool:
        others = [job for job in ledger.jobs if job["id"] != job_id]
        ended = [job for job in others if job["finished"]]
        kept = [job for job in others if job not in ended[:-FINISHED_KEPT]]
        facts: dict[str, Any] = {
            "key": self._key,
            "nonce": new_id(),
            "jobs": [*kept, {"id": job_id, "created_at": created_at, "finished": False}],
            "intent": ledger.intent,
        }
        if task is not None:
            at = self._node.store.now()
            facts["intent"] = {"id": job_id, "at": at, "task": task.decode()}
        body = json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"
        bucket = self._node.bucket
        try:
            if ledger.etag is None:
                written = bucket.put_new(self._place, body)
            else:
                written = bucket.put_over(self._place, body, ledger.etag)
        except Overtaken:
            return False
        return not isinstance(written, Lost)

    def _read(self) -> Ledger:
        found = self._node.bucket.get(self._place)
        if found is None:
            return Ledger()
        try:
            facts = parse(found.body)
            key, jobs, intent = facts["key"], _jobs(facts["jobs"]), _intent(facts["intent"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableObject(self._node.bucket.name, self._place, str(error)) from None
        if key != self._key:
            raise BackendRejected(
                f"the key {self._key!r} has the name of key {key!r}: choose another key"
            )
        return Ledger(found.etag, jobs, intent)


def _awaited(ledger: Ledger, job_id: str, sight: Sight | None, now: float) -> bytes | None:
    """The task of a job that was announced and has not entered.

    A new one, one that is retried, or one with the id of another that was deleted.
    """
    intent = ledger.intent
    if intent is None or intent["id"] != job_id or intent["at"] < now - INTENT:
        return None
    task: bytes = intent["task"].encode()
    if sight is None:
        return task
    coming = row_of_task(parse(task), sight.row.queue, name_of(job_id))
    if sight.gone:
        return task if coming.seq != sight.row.seq else None
    retried = sight.row.state.terminal and coming.generation > sight.row.generation
    return task if retried else None


def _jobs(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": _text(job["id"]),
            "created_at": float(job["created_at"]),
            "finished": bool(job["finished"]),
        }
        for job in listed
    ]


def _intent(facts: dict[str, Any] | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    job_id, task = _text(facts["id"]), _text(facts["task"])
    row_of_task(parse(task.encode()), "-", name_of(job_id))
    return {"id": job_id, "at": float(facts["at"]), "task": task}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{value!r} is not text")
