"""Further promises that the same evidence can break; any finding here fails a campaign too."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from chaos.cast import node_of
from chaos.checker import Finding, children, receipts
from ferryman import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from chaos.evidence import Evidence
    from chaos.terms import Terms
    from ferryman import Job


def fences(evidence: Evidence) -> Iterator[Finding]:
    """Every claim has a number of its own, and later claims have higher ones."""
    pairs = (
        (job_id, pair)
        for job_id in evidence.started
        for course in evidence.courses(job_id)
        for pair in pairwise(course)
    )
    for job_id, (one, two) in pairs:
        if one.fence == two.fence:
            yield Finding(job_id, f"claim {one.fence} started twice")
        elif one.claimed_at - evidence.terms.clock > two.claimed_at:
            yield Finding(job_id, f"claim {two.fence} is older than claim {one.fence}")
        elif one.generation > two.generation:
            yield Finding(job_id, f"claim {two.fence} is of an older generation than {one.fence}")


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
        if evidence.terms.relaxed and job.id in evidence.duplicates:
            continue  # it completed as well
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
    """Between the answer to `pause_queue` and the next `resume_queue`, nothing is claimed.

    Only on the operator's own node: others learn of it later.
    """
    here = node_of(evidence.plan.cast.operator)
    claims = [s for starts in evidence.started.values() for s in starts if s.node == here]
    for pause in evidence.acted:
        if pause.verb != "pause_queue":
            continue
        resumes = [
            asked.at
            for asked in evidence.asked
            if (asked.verb, asked.id) == ("resume_queue", pause.id) and asked.step > pause.step
        ]
        until = min(resumes, default=pause.at) - evidence.terms.clock
        for start in claims:
            if start.queue == pause.id and pause.at < start.claimed_at < until:
                after, before = start.claimed_at - pause.at, until - start.claimed_at
                yield Finding(
                    start.id,
                    f"claimed from {pause.id} {after:.3f} s after the queue was paused and "
                    f"{before:.3f} s before it was resumed",
                )


def deadlines(evidence: Evidence) -> Iterator[Finding]:
    """Nothing is claimed after it expired."""
    for job in evidence.jobs.values():
        for start in evidence.started.get(job.id, ()):
            if job.deadline is not None and start.claimed_at >= job.deadline:
                yield Finding(job.id, f"claim {start.fence} came after its deadline")


def live_leases(evidence: Evidence) -> Iterator[Finding]:
    """No lease is reaped before it could have expired."""
    lease = evidence.plan.cast.pace.lease
    for job in evidence.jobs.values():
        for error in job.errors:
            claims = [
                start.claimed_at
                for start in evidence.started.get(job.id, ())
                if start.worker == error.worker and start.claimed_at <= error.at
            ]
            if error.kind == "lease" and claims and error.at < max(claims) + lease:
                yield Finding(job.id, f"reaped {error.at - max(claims):.3f} s after its claim")


def counters(evidence: Evidence) -> Iterator[Finding]:
    """The store's counters equal a recount."""
    found = evidence.holdings
    for key in found.counted.keys() | found.recounted.keys():
        if found.counted[key] != found.recounted[key]:
            yield Finding(
                "", f"{' '.join(key)}: counted {found.counted[key]}, are {found.recounted[key]}"
            )


def uncounted(evidence: Evidence) -> Iterator[Finding]:
    """Where a job may end twice, the store keeps the second end and counts it."""
    for job_id in evidence.ended.keys() - evidence.duplicates if evidence.terms.relaxed else ():
        for generation, ends in receipts(evidence, job_id).items():
            if len(ends) > 1:
                text = f"generation {generation} ended {len(ends)} times, none kept as a duplicate"
                yield Finding(job_id, text)


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
        uncounted,
        troubles,
    )
}

_NOT_BETWEEN_NODES: Final = (checkpoints, keys)
"""What relaxed nodes do not tell each other at once. Claims they number each their own."""


def rules_for(terms: Terms) -> Mapping[str, Callable[[Evidence], Iterator[Finding]]]:
    """The rules that a store promises to keep."""
    if terms.at_least_once:
        return {troubles.__name__: troubles}
    dropped = _NOT_BETWEEN_NODES if terms.relaxed else ()
    return {name: rule for name, rule in RULES.items() if rule not in dropped}
