"""Stores with something to see."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ferryman import Fail, Ferry, Retry, State, collect
from ferryman.ids import new_id
from ferryman.job import Job, JobError, LogLine
from ferryman.message import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.queue.contract import Backend

HUGE: Final = 9_007_199_254_740_993
"""2^53 + 1: the first whole number that a double cannot hold."""
QUEUES: Final = ("mail", "images", "reports", "imports.daily", "imports.hourly")
TASKS: Final = ("send", "thumbnail", "report", "load", "load")
ERRORS: Final = (
    ("ConnectionError", "smtp.example.org: no answer within {} s"),
    ("ValueError", "page {} has no text layer"),
    ("TimeoutError", "gave up after {} s"),
)
_SHARES: Final = (
    [State.COMPLETED] * 80
    + [State.FAILED] * 5
    + [State.PENDING] * 12
    + [State.CANCELLED] * 2
    + [State.PAUSED]
)


def app(ferry: Ferry) -> None:
    """Tasks of every kind, a pipeline, schedules and limits."""

    @ferry.task(queue="mail", retry=Retry(2, base=0.01, cap=0.01))
    def send(to: str) -> str:
        if to.startswith("bad"):
            raise ConnectionError(f"{to}: no such mailbox")
        return f"250 OK {to}"

    @ferry.task(queue="images")
    def thumbnail(image: int, job: Job) -> dict[str, int]:
        job.log(f"image {image}")
        job.progress(50, "half way")
        return {"bytes": HUGE + image}

    @ferry.task(queue="reports", needs=["ledger"])
    def report(kind: str) -> None:
        raise TimeoutError(f"the ledger did not answer for {kind}")

    @ferry.task(queue="discover")
    def discover(day: str) -> list[int]:
        return list(range(60))

    @ferry.task(queue="extract", retry=Retry(1))
    def extract(page: int) -> int:
        if page == 13:
            raise Fail("page 13 has no text layer")
        return page * 2

    @ferry.task(queue="rank")
    def rank(pages: list[int]) -> int:
        return sum(pages)

    ferry.breaker("ledger", threshold=1, cooldown=600)
    ferry.pipeline("gazette", discover >> extract >> collect(rank, failed="skip"))
    ferry.schedule("nightly", report, "full", cron="30 2 * * *", tz="Europe/Berlin")


def large(backend: Backend, jobs: int, seed: int = 7) -> None:
    """Many jobs in every state, as weeks of work leave them."""
    chance = random.Random(seed)
    batch: list[Job] = []
    now = backend.clock.now()
    for index in range(jobs):
        batch.append(_job(index, now - (jobs - index) * 2.0, chance))
        if len(batch) == 5_000:
            backend.restore(batch)
            batch.clear()
    if batch:
        backend.restore(batch)


def _job(index: int, at: float, chance: random.Random) -> Job:
    place = chance.randrange(len(QUEUES))
    state = chance.choice(_SHARES)
    payload = {"n": index, "user": {"id": HUGE + index, "name": f"user {index % 100}"}}
    job = Job(
        id=new_id(),
        queue=QUEUES[place],
        task=TASKS[place],
        body=encode(payload),
        state=State.PENDING,
        priority=chance.choice((0, 0, 0, 10)),
        ready_at=at,
        seq=index,
        version=1,
        attempts=0,
        max_attempts=5,
        fence=0,
        generation=1,
        given_back=0,
        created_at=at,
        meta={"campaign": f"c{index % 7}"},
    )
    if state in (State.PENDING, State.PAUSED):
        return replace(job, state=state)
    ended = replace(
        job,
        state=state,
        attempts=1,
        fence=1,
        started_at=at + 0.3,
        finished_at=at + 0.3 + chance.random(),
        worker="host:1:abc",
    )
    if state is State.COMPLETED:
        return replace(ended, result=json.dumps({"ok": True}))
    if state is State.CANCELLED:
        return ended
    kind, text = chance.choice(ERRORS)
    error = f"{kind}: {text.format(index)}"
    return replace(ended, error=error, errors=(_error(kind, error, at + 0.5),))


def _error(kind: str, text: str, at: float) -> JobError:
    trace = f'Traceback (most recent call last):\n  File "app.py", line 7, in run\n{text}'
    return JobError(1, at, "host:1:abc", kind, text, trace)


def planted(strings: list[str]) -> Iterator[Job]:
    """Failed jobs with these strings in every field that people see."""
    for index, text in enumerate(strings):
        name = _name(text) or f"empty {index}"
        at = 1_800_000_000.0 - index
        yield Job(
            id=f"{name}#{index}",
            queue=name[:150],
            task=name[:150],
            body=encode({"text": text, text: [text, {"deep": text}]}),
            state=State.FAILED,
            priority=0,
            ready_at=at,
            seq=index,
            version=1,
            attempts=1,
            max_attempts=1,
            fence=1,
            generation=1,
            given_back=0,
            created_at=at,
            started_at=at,
            finished_at=at + 1,
            worker=name,
            key=f"{name}#{index}",
            correlation_id=name,
            meta={name[:60]: name},
            percent=50.0,
            note=text,
            stored_checkpoint=encode({"at": text}),
            result=None,
            error=text or "-",
            errors=(JobError(1, at, name, name[:100], text or "-", text),),
            logs=(LogLine(at, text),),
        )


def _name(text: str) -> str:
    """The part of a string that a name may hold."""
    kept = (c for c in text if ord(c) >= 32 and not 127 <= ord(c) < 160 and not 0xD800 <= ord(c) <= 0xDFFF)
    return "".join(kept).strip()[:200]
