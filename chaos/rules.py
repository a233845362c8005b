"""Further promises that the same evidence can break; any finding here fails a campaign too."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from chaos.cast import LEASE
from chaos.checker import Finding, children
from ferryman import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.evidence import Evidence
    from ferryman import Job


def fences(evidence: Evidence) -> Iterator[Finding]:
    """Every claim has a number of its own, and later claims have higher ones."""
    for job_id, starts in evidence.started.items():
        for one, two in pairwise(starts):
            if one.fence == two.fence:
                yield Finding(job_id, f"claim {one.fence} started twice")
            elif one.claimed_at > two.claimed_at or one.generation > two.generation:
                yield Finding(job_id, f"claim {two.fence} is older than claim {one.fence}")


def unstarted(evidence: Evidence) -> Iterator[Finding]:
    """What a handler ended had started: only a lost lease or an operator ends a job unseen."""
    for job in evidence.jobs.values():
        if job.state is State.CANCELLED or (job.errors and job.errors[-1].kind == "lease"):
            continue
        fences = {start.fence for start in evidence.started.get(job.id, ())}
        if job.state.terminal and job.fence not in fences:
            yield Finding(job.id, f"is {job.state} by claim {job.fence}, which nobody started")


def unexpected(evidence: Evidence) -> Iterator[Finding]:
    """Nothing is there that nobody pushed, and nothing twice."""
    planned = {
        message.token
        for script in evidence.plan.scripts.values()
        for push in script
        for message in push.messages
    }
    tokens: Counter[str] = Counter()
    for job in evidence.jobs.values():
        token = str(job.payload["token"])
        tokens[token] += 1
        if token.partition("/")[0] not in planned:
            yield Finding(job.id, f"nobody planned {token}")
        if tokens[token] == 2:
            yield Finding(job.id, f"{token} is in the store twice")


def orphans(evidence: Evidence) -> Iterator[Finding]:
    """A job that did not complete has handed over nothing."""
    for job in evidence.jobs.values():
        if job.task == "handover" and job.state is not State.COMPLETED:
            for child in children(job, job.generation):
                if child in evidence.jobs:
                    yield Finding(child, f"was handed over by {job.id}, which is {job.state}")


def checkpoints(evidence: Evidence) -> Iterator[Finding]:
    """An acknowledged checkpoint is there for every later claim."""
    for job_id, saves in evidence.saved.items():
        for start in evidence.started.get(job_id, ()):
            kept = max((s.checkpoint for s in saves if s.fence < start.fence), default=0)
            if start.checkpoint < kept:
                yield Finding(
                    job_id, f"claim {start.fence} found checkpoint {start.checkpoint}, not {kept}"
                )


def keys(evidence: Evidence) -> Iterator[Finding]:
    """A job pushed with `unique="unfinished"` finds no other of its key unfinished."""
    unique = {
        message.token: message.options.get("unique")
        for script in evidence.plan.scripts.values()
        for push in script
        for message in push.messages
    }
    by_key: defaultdict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in sorted(evidence.jobs.values(), key=lambda job: job.seq):
        if job.key is None:
            continue
        earlier = by_key[job.queue, job.key]
        if unique.get(job.payload["token"]) == "unfinished":
            for other in earlier:
                if other.finished_at is None or other.finished_at > job.created_at:
                    yield Finding(job.id, f"was pushed while {other.id} held its key {job.key}")
        earlier.append(job)


def pauses(evidence: Evidence) -> Iterator[Finding]:
    """Between the answer to `pause_queue` and the next `resume_queue`, nothing is claimed."""
    claims = [start for starts in evidence.started.values() for start in starts]
    for pause in evidence.acted:
        if pause.verb != "pause_queue":
            continue
        resumes = [
            asked.at
            for asked in evidence.asked
            if (asked.verb, asked.id) == ("resume_queue", pause.id) and asked.step > pause.step
        ]
        until = min(resumes, default=pause.at)
        for start in claims:
            if start.queue == pause.id and pause.at < start.claimed_at < until:
                yield Finding(start.id, f"claimed from {pause.id} while the queue was paused")


def deadlines(evidence: Evidence) -> Iterator[Finding]:
    """Nothing is claimed after it expired."""
    for job in evidence.jobs.values():
        for start in evidence.started.get(job.id, ()):
            if job.deadline is not None and start.claimed_at >= job.deadline:
                yield Finding(job.id, f"claim {start.fence} came after its deadline")


def live_leases(evidence: Evidence) -> Iterator[Finding]:
    """No lease is reaped before it could have expired."""
    for job in evidence.jobs.values():
        for error in job.errors:
            claims = [
                start.claimed_at
                for start in evidence.started.get(job.id, ())
                if start.worker == error.worker and start.claimed_at <= error.at
            ]
            if error.kind == "lease" and claims and error.at < max(claims) + LEASE:
                yield Finding(job.id, f"reaped {error.at - max(claims):.3f} s after its claim")


def counters(evidence: Evidence) -> Iterator[Finding]:
    """The store's counters equal a recount."""
    found = evidence.holdings
    for key in found.counted.keys() | found.recounted.keys():
        if found.counted[key] != found.recounted[key]:
            yield Finding(
                "", f"{' '.join(key)}: counted {found.counted[key]}, are {found.recounted[key]}"
            )


def troubles(evidence: Evidence) -> Iterator[Finding]:
    """No process ended by itself, and the store is sound."""
    for text in evidence.troubles:
        yield Finding("", text)


RULES: Final = {
    rule.__name__: rule
    for rule in (
        fences,
        unstarted,
        unexpected,
        orphans,
        checkpoints,
        keys,
        pauses,
        deadlines,
        live_leases,
        counters,
        troubles,
    )
}
