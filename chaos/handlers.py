"""The handlers under test: plain user code that writes down what it sees."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from chaos.cast import ROUGH, SWIFT
from chaos.records import Pushed, Returned, Saved, Started
from chaos.script import BACKOFF, GENEROUS
from ferryman import Cancel, Fail, Ferry, Job, Message, Retry, Snooze
from ferryman.ids import child_id

if TYPE_CHECKING:
    from chaos.journal import Journal

PUSHED = "pushed"
"""The edge in the ids of children that a handler pushes by itself."""

_RETRY = Retry(GENEROUS, base=0.03, cap=0.4)

_TASKS = {
    SWIFT: ["brief", "brief_async", "parent", "parent_async"],
    ROUGH: [
        "flaky",
        "flaky_async",
        "careful",
        "careful_async",
        "drowsy",
        "slow",
        "slow_async",
        "doomed",
        "hopeless",
        "quitting",
    ],
}

Seal = dict[str, int]


class Handlers:
    """Declares every task on a Ferry. Each handler first of all records that it started.

    Results carry the fence that they were made under, so that a stale one is recognised.
    """

    def __init__(self, ferry: Ferry, journal: Journal) -> None:
        self._ferry = ferry
        self._journal = journal
        for queue, names in _TASKS.items():
            for name in names:
                ferry.task(name=name, queue=queue, retry=_RETRY)(getattr(self, name))

    def brief(self, token: str, seconds: float, job: Job) -> Seal:
        self._start(job)
        time.sleep(seconds)
        return self._sealed(job)

    async def brief_async(self, token: str, seconds: float, job: Job) -> Seal:
        self._start(job)
        await asyncio.sleep(seconds)
        return self._sealed(job)

    def parent(self, token: str, children: int, job: Job) -> Seal:
        self._start(job)
        for index in range(children):
            handle = self._ferry.push("brief", **_options(child(job, token, PUSHED, index)))
            self._journal.write(Pushed(-1, handle.id, "", 0.0))
        return self._sealed(job)

    async def parent_async(self, token: str, children: int, job: Job) -> Seal:
        self._start(job)
        for index in range(children):
            options = _options(child(job, token, PUSHED, index))
            handle = await self._ferry.apush("brief", **options)
            self._journal.write(Pushed(-1, handle.id, "", 0.0))
        return self._sealed(job)

    def flaky(self, token: str, seconds: float, times: int, job: Job) -> Seal:
        self._start(job)
        time.sleep(seconds)
        if job.attempts <= times:
            raise ConnectionError(f"attempt {job.attempts} of {token}")
        return self._sealed(job)

    async def flaky_async(self, token: str, seconds: float, times: int, job: Job) -> Seal:
        self._start(job)
        await asyncio.sleep(seconds)
        if job.attempts <= times:
            raise Retry(after=seconds, reason=f"attempt {job.attempts} of {token}")
        return self._sealed(job)

    def careful(self, token: str, seconds: float, steps: int, job: Job) -> Seal:
        begun = self._start(job)
        for step in range(begun + 1, steps + 1):
            job.progress(100 * step / steps, f"step {step}")
            time.sleep(seconds)
            job.checkpoint({"step": step})
            self._journal.write(Saved(job.id, job.fence, step))
            job.log(f"step {step} is safe")
        return self._sealed(job)

    async def careful_async(self, token: str, seconds: float, steps: int, job: Job) -> Seal:
        begun = self._start(job)
        for step in range(begun + 1, steps + 1):
            job.progress(100 * step / steps)
            await asyncio.sleep(seconds)
            await job.acheckpoint({"step": step})
            self._journal.write(Saved(job.id, job.fence, step))
        return self._sealed(job)

    def drowsy(self, token: str, seconds: float, times: int, job: Job) -> Seal:
        self._start(job)
        if job.given_back < times:
            raise Snooze(seconds)
        return self._sealed(job)

    def slow(self, token: str, seconds: float, times: int, job: Job) -> Seal:
        self._start(job)
        time.sleep(seconds if job.attempts <= times else 0.0)
        return self._sealed(job)

    async def slow_async(self, token: str, seconds: float, times: int, job: Job) -> Seal:
        self._start(job)
        await asyncio.sleep(seconds if job.attempts <= times else 0.0)
        return self._sealed(job)

    def doomed(self, token: str, seconds: float, job: Job) -> None:
        self._start(job)
        time.sleep(seconds)
        raise ValueError(f"attempt {job.attempts} of {token}")

    def hopeless(self, token: str, seconds: float, job: Job) -> None:
        self._start(job)
        time.sleep(seconds)
        raise Fail(token)

    async def quitting(self, token: str, seconds: float, job: Job) -> None:
        self._start(job)
        await asyncio.sleep(seconds)
        raise Cancel(token)

    def _start(self, job: Job) -> int:
        """Record the start; the step that the last acknowledged checkpoint was of."""
        found = job.checkpoint()
        step = 0 if found is None else int(found["step"])
        self._journal.write(Started.of(job, self._journal.node, step))
        return step

    def _sealed(self, job: Job) -> Seal:
        """Record the end; what the handler returns."""
        self._journal.write(Returned(job.id, job.fence))
        return seal(job)


def seal(job: Job) -> Seal:
    """What every handler returns: whose result it is."""
    return {"fence": job.fence, "generation": job.generation}


def child(job: Job, token: str, edge: str, index: int) -> Message:
    """A child of a job; whoever runs this generation of it again makes the same one."""
    return Message.of(
        SWIFT,
        "brief",
        {"token": f"{token}/{edge}.{job.generation}.{index}", "seconds": 0.01},
        id=child_id(job.id, job.generation, edge, index),
        max_attempts=GENEROUS,
        backoff=BACKOFF,
    )


def _options(message: Message) -> dict[str, Any]:
    """The same message for `ferry.push`, which knows the rest from the task's declaration."""
    return {"payload": message.payload, "id": message.id}
