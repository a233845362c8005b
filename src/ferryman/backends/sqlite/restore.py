"""restore: whole jobs of another store become jobs here, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import COLUMNS, meta_text, storable
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.known import Known
from ferryman.backends.sqlite.landing import add_errors, add_logs
from ferryman.backends.sqlite.meta import add_meta
from ferryman.backends.sqlite.push import key_is_taken
from ferryman.backends.sqlite.turns import give_turns
from ferryman.job import State
from ferryman.queue.answers import Pushed
from ferryman.queue.arrival import arrive, as_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.job import Job


def restore(tx: Transaction, jobs: Sequence[Job]) -> list[Pushed]:
    """What became of each job, in order; the caller has written nothing yet."""
    return [_restore(tx, job) for job in arrive(jobs, tx.now)]


def _restore(tx: Transaction, job: Job) -> Pushed:
    row = tx.run("find", {"id": job.id}).fetchone()
    if row is not None:
        known = Known._make(row)
        same = as_message(job).same_work(known.queue, known.task, known.version, known.body)
        return Pushed(job.id, "existing" if same else "conflict")
    if job.key is not None and not job.state.terminal and key_is_taken(tx, job.queue, job.key):
        return Pushed(job.id, "conflict")
    _insert(tx, job)
    return Pushed(job.id, "created")


def _insert(tx: Transaction, job: Job) -> None:
    scheduled = job.state is State.PENDING and job.ready_at > tx.now
    values = {name: getattr(job, name) for name in COLUMNS}
    values |= {name: storable(values[name]) for name in ("worker", "note", "error")}
    values |= {"meta": meta_text(job.meta), "scheduled": scheduled}
    (seq,) = tx.run("restore", values).fetchone()
    add_meta(tx, [(job.id, job.meta)])
    add_errors(tx, seq, job.errors)
    add_logs(tx, seq, job.logs)
    tx.tally.add(job.queue, job.state)
    tx.tally.add(job.queue, SCHEDULED, int(scheduled))
    if job.tenant is not None:
        give_turns(tx, job.queue)
