"""A process that works until it is killed, and says what the store acknowledged.

Run as a program with a URL and a name. Each line that it writes is a fact that must survive it:
it is written only after the store answered.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from typing import TYPE_CHECKING, Final

from ferryman.job import Job, JobError
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend

LEASE: Final = 300.0


def main(url: str, name: str) -> None:
    store = open_backend(url)
    for turn in count():
        push(store, f"{name}-{turn}")
        for job in store.poll(name, {"mail": 3}, lease=LEASE, turn=turn):
            end(store, job)


def push(store: Backend, name: str) -> None:
    batch = [Message.of("mail", "send", name, id=f"{name}-{number}") for number in range(3)]
    say("pushed", *[answer.id for answer in store.push(batch)])


def end(store: Backend, job: Job) -> None:
    """Acknowledge most jobs, let some fail, and go on holding every fifth."""
    match job.seq % 5:
        case 0:
            say("claimed", job.id)
        case 1:
            error = JobError(job.attempts, 0.0, job.worker, "ValueError", "boom")
            ending = Settlement.of(job, Verdict.NACK, error=error)
            if store.settle([ending])[0].applied:
                say("nacked", job.id)
        case _:
            child = Message.of("pages", "send", id=f"child of {job.id}")
            ending = Settlement.of(job, Verdict.ACK, result='"done"', children=(child,))
            if store.settle([ending])[0].applied:
                say("acked", job.id)


def say(fact: str, *ids: str) -> None:
    # One write a line: a killed process leaves whole lines, and at most one torn one at the end.
    os.write(sys.stdout.fileno(), (json.dumps([fact, *ids]) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
