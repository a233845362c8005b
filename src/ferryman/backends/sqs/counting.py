"""How many messages there are, as SQS says it: roughly, and a moment ago."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.queue.answers import QueueCounts, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.sqs.calls import Calls
    from ferryman.backends.sqs.queues import Queues


def count(calls: Calls, queues: Queues, now: float) -> Snapshot:
    """Counts of all queues with our prefix. A queue whose name had to be changed has that name."""
    found: dict[str, dict[State, int]] = {}
    later: dict[str, int] = {}
    listed = queues.listed()
    said = calls.each(calls.attributes, [place for _, _, place in listed])
    for (queue, dead, _), attributes in zip(listed, said, strict=True):
        states = found.setdefault(queue, dict.fromkeys(State, 0))
        waiting = _number(attributes, "ApproximateNumberOfMessages")
        delayed = _number(attributes, "ApproximateNumberOfMessagesDelayed")
        flying = _number(attributes, "ApproximateNumberOfMessagesNotVisible")
        if dead:
            states[State.FAILED] += waiting + flying
        else:
            states[State.PENDING] += waiting + delayed
            states[State.PROCESSING] += flying
            later[queue] = later.get(queue, 0) + delayed
    return Snapshot(
        now,
        {
            queue: QueueCounts(queue, {s: n for s, n in states.items() if n}, later.get(queue, 0))
            for queue, states in found.items()
        },
    )


def _number(attributes: Mapping[str, str], name: str) -> int:
    return int(attributes.get(name, 0))
