"""What only SQS knows about itself: whether the queues are there and set as they should be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqs.queues import MOST_RECEIVES
from ferryman.errors import BackendError
from ferryman.queue.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferryman.backends.sqs.calls import Calls
    from ferryman.backends.sqs.queues import Queues
    from ferryman.queue.answers import Snapshot

_CROWD: Final = 100_000


def diagnose(calls: Calls, queues: Queues, snapshot: Snapshot) -> Sequence[Finding]:
    """One finding for each queue that has jobs, or one that says what is wrong with it."""
    return [finding for queue in snapshot.queues for finding in _queue(calls, queues, queue)]


def _queue(calls: Calls, queues: Queues, queue: str) -> Sequence[Finding]:
    check = f"sqs:{queue}"
    try:
        seen = [calls.attributes(place) for place in queues.places(queue)]
    except BackendError as error:
        return [Finding.problem(check, str(error), "make the queue, or allow what is denied")]
    findings = []
    flying = sum(int(one.get("ApproximateNumberOfMessagesNotVisible", 0)) for one in seen)
    if flying > _CROWD:
        findings.append(
            Finding.warning(
                check,
                f"{flying:,} messages are on their way, SQS allows 120,000",
                "run fewer workers on this queue, or let them hold fewer jobs",
            )
        )
    if any(_receives(one) < MOST_RECEIVES for one in seen):
        findings.append(
            Finding.warning(
                check,
                "a redrive policy takes messages away before the job has failed",
                f"remove it, or set maxReceiveCount to {MOST_RECEIVES}: attempts are counted by us",
            )
        )
    waiting = sum(int(one.get("ApproximateNumberOfMessages", 0)) for one in seen)
    return findings or [Finding.ok(check, f"{len(seen)} SQS queues, about {waiting:,} messages")]


def _receives(attributes: Mapping[str, str]) -> int:
    """How often a message may be received before SQS takes it away."""
    policy = json.loads(attributes.get("RedrivePolicy") or "{}")
    return int(policy.get("maxReceiveCount", MOST_RECEIVES))
