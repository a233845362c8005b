"""restore: whole jobs of another store become jobs here, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.postgresql.known import Known
from ferryman.backends.postgresql.landing import add_errors, add_logs
from ferryman.backends.postgresql.push import any_finished, key_is_taken, lock_keys
from ferryman.backends.postgresql.transaction import storable
from ferryman.backends.sql.rows import COLUMNS, meta_text
from ferryman.job import State
from ferryman.queue.answers import Pushed
from ferryman.queue.arrival import arrive, as_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.job import Job


def restore(tx: Transaction, jobs: Sequence[Job]) -> list[Pushed]:
    """What became of each job, in order; the caller has written nothing yet."""
    arrived = arrive(jobs, tx.now)
    lock_keys(tx, [(job.queue, job.key) for job in arrived if job.key is not None])
    return [_restore(tx, job) for job in arrived]


def _restore(tx: Transaction, job: Job) -> Pushed:
    while True:
        if (known := _known(tx, job)) is not None:
            return known
        if job.key is not None and not job.state.terminal and key_is_taken(tx, job.queue, job.key):
            return Pushed(job.id, "conflict")
        if _insert(tx, job):
            return Pushed(job.id, "created")


def _known(tx: Transaction, job: Job) -> Pushed | None:
    row = tx.row("find", {"id": job.id})
    if row is None:
        return None
    known = Known._make(row)
    same = as_message(job).same_work(known.queue, known.task, known.version, known.body)
    return Pushed(job.id, "existing" if same else "conflict")


def _insert(tx: Transaction, job: Job) -> bool:
    """Whether the id was free. Finished jobs too enter by the table whose index guards the ids."""
    values = {name: getattr(job, name) for name in COLUMNS}
    values |= {name: storable(values[name]) for name in ("worker", "note", "error")}
    values["meta"] = meta_text(job.meta)
    values["scheduled"] = job.state is State.PENDING and job.ready_at > tx.now
    row = tx.row("restore", values)
    if row is None:
        return False
    (seq,) = row
    if any_finished(tx, [job.id]):
        tx.run("forget", {"seqs": [seq]})
        return False
    with tx.pipelined():
        add_errors(tx, seq, job.errors)
        add_logs(tx, seq, job.logs)
        if job.state.terminal:
            tx.run("bury", {"seq": seq})
    if job.state is State.PENDING:
        tx.awakens.add(job.queue)
    return True
