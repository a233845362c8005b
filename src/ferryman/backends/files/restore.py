"""restore: whole jobs of another store, finished ones straight into their record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.document import record_text
from ferryman.backends.files.entry import TOGETHER, enter
from ferryman.backends.files.keys import Key
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Place
from ferryman.backends.files.reading import find, make_durable
from ferryman.backends.files.removal import mark_paused
from ferryman.backends.files.row import Row
from ferryman.job import State
from ferryman.queue.answers import Pushed
from ferryman.queue.arrival import arrive, as_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.files.store import Store
    from ferryman.job import Job


def restore(store: Store, jobs: Sequence[Job]) -> list[Pushed]:
    """Each job by the rules of the contract, those before it in the batch seen."""
    arrived = arrive(jobs, store.now())
    answers: list[Pushed] = []
    for run in _runs(arrived):
        if run[0].key is None:
            answers += _restore(store, run)
        else:
            answers.append(_restore_keyed(store, run[0]))
    return answers


def _runs(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Jobs that can be written together: without key and of different ids."""
    run: list[Job] = []
    ids: set[str] = set()
    for job in jobs:
        if run and (job.key is not None or job.id in ids or len(run) >= TOGETHER):
            yield run
            run, ids = [], set()
        if job.key is not None:
            yield [job]
        else:
            run.append(job)
            ids.add(job.id)
    if run:
        yield run


def _restore_keyed(store: Store, job: Job) -> Pushed:
    with Key(store, store.make_queue(job.queue), job.key or "") as key:
        known = _known(store, job)
        if known is not None:
            return known
        if not job.state.terminal and key.holder("unfinished", store.now()) is not None:
            return Pushed(job.id, "conflict")
        key.add(job.id)
        return _restore(store, [job])[0]


def _restore(store: Store, jobs: list[Job]) -> list[Pushed]:
    now = store.now()
    answers = {job.id: _known(store, job) for job in jobs}
    fresh = [Row.restored(job, store.next_seq(now)) for job in jobs if answers[job.id] is None]
    waiting = [row for row in fresh if not row.state.terminal]
    for row in waiting:
        if row.state is State.PAUSED:
            mark_paused(store, Place(store.make_queue(row.queue), name_of(row.id)), True)
    made = {row.id for row in enter(store, waiting, now)} if waiting else set()
    made |= _keep_records(store, [row for row in fresh if row.state.terminal])
    return [
        answers[job.id]
        or (Pushed(job.id, "created") if job.id in made else _known(store, job))
        or Pushed(job.id, "conflict")
        for job in jobs
    ]


def _keep_records(store: Store, rows: list[Row]) -> set[str]:
    """Write finished records; a name that somebody else took meanwhile is left alone."""
    kept: set[str] = set()
    folders: set[str] = set()
    for row in rows:
        folder = store.make_queue(row.queue).ends[row.state]
        tmp = f"{store.layout.tmp}/{store.nonce()}"
        store.disk.create(tmp, record_text(row), sync=True)
        store.commit()
        if store.disk.link(tmp, f"{folder}/{name_of(row.id)}.json"):
            kept.add(row.id)
            folders.add(folder)
        store.disk.unlink(tmp)
    for folder in folders:
        store.disk.sync_folder(folder)
    return kept


def _known(store: Store, job: Job) -> Pushed | None:
    """What a job with this id makes of the one that arrives; None if there is none."""
    found = find(store, job.id)
    if found is None:
        return None
    folders, row = found
    make_durable(store, folders, row)
    same = as_message(job).same_work(row.queue, row.task, row.version, row.body)
    return Pushed(job.id, "existing" if same else "conflict")
