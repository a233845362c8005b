"""Stores with something to see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ferryman import Fail, Ferry, Retry, State, collect
from ferryman.filter import Filter
from ferryman.job import Job, JobError, LogLine
from ferryman.lifecycle import Verdict
from ferryman.message import Message, encode
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferryman.queue.contract import Backend

HUGE: Final = 9_007_199_254_740_993
"""2^53 + 1: the first whole number that a double cannot hold."""
BATCH: Final = 5_000
QUEUES: Final = ("mail", "images", "reports", "imports.daily", "imports.hourly")
TASKS: Final = ("send", "thumbnail", "report", "load", "load")
ERRORS: Final = (
    ("ConnectionError", "smtp.example.org: no answer within {} s"),
    ("ValueError", "page {} has no text layer"),
    ("TimeoutError", "gave up after {} s"),
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


def large(backend: Backend, jobs: int) -> None:
    """Many jobs in every state; four of ten have ended, one of 17 badly."""
    for first in range(0, jobs, BATCH):
        backend.push([_message(index) for index in range(first, min(first + BATCH, jobs))])
    claimed = backend.poll("host:1:abc", dict.fromkeys(QUEUES, jobs // 12), lease=600)
    backend.settle([_end(job) for job in claimed])
    left = backend.list(Filter.parse("state:pending"), limit=min(1_000, jobs // 30)).jobs
    backend.cancel([job.id for job in left[::3]])
    backend.pause([job.id for job in left[1::3]])


def _message(index: int) -> Message:
    place = index % len(QUEUES)
    return Message.of(
        QUEUES[place],
        TASKS[place],
        {"n": index, "user": {"id": HUGE + index, "name": f"user {index % 100}"}},
        priority=10 * (index % 7 == 0),
        meta={"campaign": f"c{index % 7}"},
    )


def _end(job: Job) -> Settlement:
    number = int(job.payload["n"])
    if number % 17:
        return Settlement.of(job, Verdict.ACK, result='{"ok": true}')
    kind, words = ERRORS[number % len(ERRORS)]
    text = f"{kind}: {words.format(number)}"
    trace = f'Traceback (most recent call last):\n  File "app.py", line 7, in run\n{text}'
    error = JobError(1, job.started_at or 0.0, job.worker, kind, text, trace)
    return Settlement.of(job, Verdict.FAIL, error=error)


def planted(strings: list[str]) -> Iterator[Job]:
    """Failed jobs with these strings in every field that people see."""
    for index, text in enumerate(strings):
        name = name_of(text) or f"empty {index}"
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


def planted_runs(names: Iterable[str]) -> Iterator[Job]:
    """The first job of a run of this name, in a pipeline and a stage of the same."""
    for index, name in enumerate(names):
        marks = {"run": name, "pipeline": name, "stage": name}
        yield replace(next(planted([name])), id=name, key=None, meta=marks, seq=1_000 + index)


def name_of(text: str) -> str:
    """The part of a string that a name may hold."""
    return "".join(c for c in text if c >= " " and not "\x7f" <= c <= "\x9f").strip()[:200]
