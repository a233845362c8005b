"""The operator's acts on single jobs: cancel, pause, resume, retry, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.postgresql.history import forget
from ferryman.backends.postgresql.known import Known
from ferryman.backends.postgresql.push import key_is_taken, lock_keys
from ferryman.backends.postgresql.transaction import can_exist
from ferryman.backends.sql.rows import STATES
from ferryman.errors import JobNotFound, NotAllowed
from ferryman.job import State
from ferryman.lifecycle import Act, act
from ferryman.queue.answers import Acted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction


def operate(tx: Transaction, verb: Act, ids: Sequence[str]) -> list[Acted]:
    """What the act did to each job, in order."""
    asked = sorted({job_id for job_id in ids if can_exist(job_id)})
    if verb is Act.RETRY:
        # Before the rows, like every push does, or the two might wait in a circle.
        rows = tx.rows_planned("keys_of", {"ids": asked})
        lock_keys(tx, [(queue, key) for queue, key in rows])
    if len(asked) > 1:
        # All of them in one order, whatever the order of the ids.
        tx.rows_planned("hold", {"ids": asked})
    return [_operate(tx, verb, job_id) for job_id in ids]


def _operate(tx: Transaction, verb: Act, job_id: str) -> Acted:
    job = _held(tx, job_id)
    if job is None:
        return Acted(job_id, None, str(JobNotFound(job_id)))
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


def _held(tx: Transaction, job_id: str) -> Known | None:
    """The job, its row locked; None only if it is in neither table."""
    if not can_exist(job_id):
        return None
    while True:
        rows = tx.rows_planned("hold", {"ids": [job_id]})
        if rows:
            return Known._make(rows[0])
        # One look at both tables: what moved while we waited for its lock is there.
        if tx.row("find", {"id": job_id}) is None:
            return None


def _move(tx: Transaction, verb: Act, job: Known, after: State) -> None:
    with tx.pipelined():
        if verb is Act.RETRY:
            tx.run("exhume", {"seq": job.seq})
        scheduled = verb is Act.RESUME and job.ready_at > tx.now
        tx.run(verb.value, {"seq": job.seq, "now": tx.now, "scheduled": scheduled})
        if after.terminal:
            tx.run("bury", {"seq": job.seq})
    if after is State.PENDING:
        tx.awakens.add(job.queue)


def _check_key(tx: Transaction, job: Known) -> None:
    if job.key is not None and key_is_taken(tx, job.queue, job.key):
        raise NotAllowed(
            f"job {job.id!r}: an unfinished job of queue {job.queue!r} holds the key {job.key!r}; "
            "wait for it or cancel it first"
        )
