"""The operator's acts on single jobs: cancel, pause, resume, retry, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import STATES, can_exist
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.history import forget
from ferryman.backends.sqlite.known import Known
from ferryman.backends.sqlite.push import key_is_taken
from ferryman.backends.sqlite.turns import give_turns
from ferryman.errors import JobNotFound, NotAllowed
from ferryman.job import State
from ferryman.lifecycle import Act, act
from ferryman.queue.answers import Acted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqlite.transaction import Transaction


def operate(tx: Transaction, verb: Act, ids: Sequence[str]) -> list[Acted]:
    """What the act did to each job, in order."""
    return [_operate(tx, verb, job_id) for job_id in ids]


def _operate(tx: Transaction, verb: Act, job_id: str) -> Acted:
    row = tx.run("find", {"id": job_id}).fetchone() if can_exist(job_id) else None
    if row is None:
        return Acted(job_id, None, str(JobNotFound(job_id)))
    job = Known._make(row)
    state = STATES[job.state]
    try:
        after = act(state, verb, job_id)
        if verb is Act.RETRY:
            _check_key(tx, job)
    except NotAllowed as refusal:
        return Acted(job_id, state, str(refusal))
    if verb is Act.DELETE:
        forget(tx, [job.seq])
    elif state is State.PROCESSING:
        tx.run("ask", {"seq": job.seq, "asked": verb.value})
    else:
        _move(tx, verb, job, after)
    return Acted(job_id, after)


def _move(tx: Transaction, verb: Act, job: Known, after: State) -> None:
    scheduled = verb is Act.RESUME and job.ready_at > tx.now
    tx.run(verb.value, {"seq": job.seq, "now": tx.now, "scheduled": scheduled})
    tx.tally.move(job.queue, job.state, after)
    tx.tally.add(job.queue, SCHEDULED, scheduled - job.scheduled)
    if after is State.PENDING:
        give_turns(tx, job.queue)


def _check_key(tx: Transaction, job: Known) -> None:
    if job.key is not None and key_is_taken(tx, job.queue, job.key):
        raise NotAllowed(
            f"job {job.id!r}: an unfinished job of queue {job.queue!r} holds the key {job.key!r}; "
            "wait for it or cancel it first"
        )
