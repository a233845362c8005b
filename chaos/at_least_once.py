"""The same verdict where the store keeps no record: over what processes wrote down, and what is
left in queues and dead-letter queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaos.checker import Finding
from chaos.courier import HANDED
from ferryman import State
from ferryman.ids import child_id
from ferryman.job import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chaos.evidence import Evidence
    from chaos.script import Planned


def lost(evidence: Evidence) -> Iterator[Finding]:
    """Acknowledged, or handed over, and never done: no handler came to its end with it."""
    done = _done(evidence)
    for pushed in evidence.pushed:
        if pushed.id not in done:
            yield Finding(pushed.id, "its push was acknowledged and it never came to an end")
    planned = _planned(evidence)
    for parent in evidence.returned.keys() & planned.keys() - evidence.buried:
        if planned[parent].task == "handover":
            for index in range(planned[parent].payload["children"]):
                child = child_id(parent, 1, HANDED, index)
                if child not in done:
                    yield Finding(child, f"its parent {parent} ended and it never came to an end")


def finished_twice(evidence: Evidence) -> Iterator[Finding]:
    """Handlers came to their end with it more than once. Counted, and allowed."""
    for job_id, ends in evidence.returned.items():
        if len(ends) > 1:
            yield Finding(job_id, f"ran to its end {len(ends)} times")


def over_attempts(evidence: Evidence) -> Iterator[Finding]:
    """Started with more attempts charged than its message allows."""
    for job_id, planned in _planned(evidence).items():
        for start in evidence.started.get(job_id, ()):
            if start.attempts > planned.max_attempts:
                yield Finding(job_id, f"attempt {start.attempts} of {planned.max_attempts}")


def early(evidence: Evidence) -> Iterator[Finding]:
    """Starts before the message was due."""
    for job_id, starts in evidence.started.items():
        for start in starts:
            if start.at < start.ready_at:
                yield Finding(job_id, f"started {start.ready_at - start.at:.3f} s early")


def unfinished(evidence: Evidence) -> Iterator[Finding]:
    """Messages that are still in a queue."""
    for (queue, state), count in evidence.holdings.counted.items():
        if state in (State.PENDING, State.PROCESSING) and count:
            yield Finding("", f"{count} messages of {queue} are still {state}")


def _done(evidence: Evidence) -> set[str]:
    ended = {
        job_id
        for job_id, ends in evidence.ended.items()
        if any(end.state in TERMINAL for end in ends)
    }
    return ended | evidence.returned.keys() | evidence.buried


def _planned(evidence: Evidence) -> Mapping[str, Planned]:
    """The messages whose ids their producers gave."""
    return {
        message.id: message
        for script in evidence.plan.scripts.values()
        for push in script
        for message in push.messages
        if message.id is not None
    }
