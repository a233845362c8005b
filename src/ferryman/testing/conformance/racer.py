"""Another process at the same store, told what to do line by line.

Run as a program: it reads one JSON command a line and answers one JSON line each. It is started by
its path, so that it need not import pytest.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.capacity import Limit
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend


def main() -> None:
    opened: str | None = None
    with ExitStack() as last:
        for line in sys.stdin:
            command = json.loads(line)
            url, verb = command.pop("url"), VERBS[command.pop("do")]
            if url != opened:
                last.close()
                store, opened = open_backend(url), url
                last.callback(store.close)
            sys.stdout.write(json.dumps(verb(store, **command)) + "\n")
            sys.stdout.flush()


def ready(store: Backend) -> str:
    """Only opens the store, so that a race starts with both already there."""
    return store.capabilities.backend


def push(
    store: Backend, messages: list[dict[str, Any]], capacity: int | None = None
) -> list[tuple[str, str]]:
    """Push each message on its own; its id and what became of it."""
    limits = {message["queue"]: Limit(capacity) for message in messages}
    answers = [store.push([Message(**message)], limits=limits)[0] for message in messages]
    return [(answer.id, answer.status) for answer in answers]


def push_now(store: Backend, queue: str) -> float:
    """Push one job; the machine's monotonic time right after it."""
    store.push([Message(queue=queue, task="send")])
    return time.monotonic()


def drain(store: Backend, worker: str, queue: str, batch: int) -> list[tuple[str, int]]:
    """Poll until the queue is empty; every claim."""
    found: list[tuple[str, int]] = []
    while jobs := store.poll(worker, {queue: batch}, lease=600):
        found += [(job.id, job.fence) for job in jobs]
    return found


def settle(
    store: Backend, claims: list[tuple[str, int, str]], queue: str, verdict: str
) -> list[bool]:
    """Settle each claim (id, fence, worker) on its own; whether it was applied."""
    endings = [Settlement(*claim, queue, Verdict(verdict)) for claim in claims]
    return [store.settle([ending])[0].applied for ending in endings]


def reap(store: Backend, batch: int) -> list[str]:
    """Reap in small batches until nothing is left; every job that was returned."""
    found: list[str] = []
    while reaped := store.reap(batch):
        found += [lease.id for lease in reaped]
    return found


VERBS: dict[str, Callable[..., Any]] = {
    "ready": ready,
    "push": push,
    "push_now": push_now,
    "drain": drain,
    "settle": settle,
    "reap": reap,
}

if __name__ == "__main__":
    main()
