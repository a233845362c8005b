"""restore: whole jobs of another store, finished ones straight into their record."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files.document import record_text
from ferryman.backends.files.names import name_of
from ferryman.backends.files.row import Row
from ferryman.backends.s3.entry import enter_text
from ferryman.backends.s3.find import find
from ferryman.backends.s3.hold import task_object
from ferryman.backends.s3.keys import Key
from ferryman.backends.s3.sight import Sight
from ferryman.queue.answers import Pushed
from ferryman.queue.arrival import arrive, as_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.s3.node import Node
    from ferryman.job import Job


def restore(node: Node, jobs: Sequence[Job]) -> list[Pushed]:
    """Each job by the rules of the contract, those before it in the batch seen."""
    now = node.store.now()
    arrived = [(job, node.store.next_seq(now)) for job in arrive(jobs, now)]
    answers: list[Pushed] = []
    for run in _runs(arrived):
        answers += node.each(partial(_restore, node), run)
    return answers


def _runs(jobs: Sequence[tuple[Job, int]]) -> Iterator[list[tuple[Job, int]]]:
    """Jobs that can be written together: without key and of different ids."""
    run: list[tuple[Job, int]] = []
    ids: set[str] = set()
    for job, seq in jobs:
        if run and (job.key is not None or job.id in ids):
            yield run
            run, ids = [], set()
        if job.key is not None:
            yield [(job, seq)]
        else:
            run.append((job, seq))
            ids.add(job.id)
    if run:
        yield run


def _restore(node: Node, arrived: tuple[Job, int]) -> Pushed:
    job, seq = arrived
    known = _known(node, job)
    if known is not None:
        return known
    row = Row.restored(job, seq)
    if row.state.terminal:
        made = _keep_record(node, row)
    else:
        task = task_object(row)
        if row.key is not None:
            key = Key(node, row.queue, row.key)
            if key.take("unfinished", row.id, row.created_at, task) is not None:
                return Pushed(job.id, "conflict")
        made = isinstance(enter_text(node, row.queue, name_of(row.id), task), Sight)
    if made:
        return Pushed(job.id, "created")
    return _known(node, job) or Pushed(job.id, "conflict")


def _keep_record(node: Node, row: Row) -> bool:
    if row.key is not None:
        Key(node, row.queue, row.key).add(row.id, row.created_at)
    node.registry.register(row.queue)
    key = node.home.record(row.queue, row.state, name_of(row.id))
    made = isinstance(node.bucket.put_new(key, record_text(row)), str)
    if made:
        node.mirror.keep(Sight(row, recorded=True))
    return made


def _known(node: Node, job: Job) -> Pushed | None:
    """What a job with this id makes of the one that arrives; None if there is none."""
    found = find(node, job.id)
    if found is None:
        return None
    row = found.row
    same = as_message(job).same_work(row.queue, row.task, row.version, row.body)
    return Pushed(job.id, "existing" if same else "conflict")
