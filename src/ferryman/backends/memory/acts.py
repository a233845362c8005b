"""What operators do to single jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.errors import JobNotFound, NotAllowed
from ferryman.job import State
from ferryman.lifecycle import Act, act
from ferryman.queue.answers import Acted

if TYPE_CHECKING:
    from ferryman.backends.memory.row import Row
    from ferryman.backends.memory.store import Store


def perform(store: Store, job_id: str, verb: Act, now: float) -> Acted:
    """Do one act to one job, or say why not."""
    row = store.rows.get(job_id)
    if row is None:
        return Acted(job_id, None, str(JobNotFound(job_id)))
    try:
        after = act(row.state, verb, job_id)
        if verb is Act.RETRY:
            _check_key_is_free(store, row)
    except NotAllowed as refusal:
        return Acted(job_id, row.state, str(refusal))
    if verb is Act.DELETE:
        store.remove(row)
    elif after is State.PROCESSING:
        # A cancel that was asked is never softened to a pause.
        row.asked = "cancel" if verb is Act.CANCEL else row.asked or "pause"
    else:
        if verb is Act.RETRY:
            _renew(row, now)
        store.move(row, after, now)
    return Acted(job_id, after)


def _check_key_is_free(store: Store, row: Row) -> None:
    if store.keys.held_by_another(row):
        message = row.message
        raise NotAllowed(
            f"job {row.id!r} cannot be retried while an unfinished job of queue {message.queue!r} "
            f"holds its key {message.key!r}: wait for that one or cancel it"
        )


def _renew(row: Row, now: float) -> None:
    row.generation += 1
    row.attempts = row.given_back = 0
    row.ready_at = now
    row.result = row.percent = row.note = row.finished_at = row.deadline = None
