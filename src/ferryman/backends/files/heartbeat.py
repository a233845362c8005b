"""heartbeat: leases are prolonged in place, and claims whose poll reply was lost are given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files import endings
from ferryman.backends.files.claims import Claim
from ferryman.backends.files.document import Unreadable, history_text
from ferryman.backends.files.lease import Lease
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import held
from ferryman.backends.files.reading import read_ask, read_job
from ferryman.backends.files.record import end_in_record
from ferryman.job import State
from ferryman.queue.heartbeat import Beat, Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.claims import Indexed
    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row


def heartbeat(
    desk: Desk, worker: str, beats: Sequence[Beat], *, lease: float, answered: int
) -> list[Pulse]:
    """Prolong each listed claim; then give back what was claimed and never arrived."""
    entries: dict[tuple[str, int], Indexed] = {}
    if answered >= 0 or any(desk.claims.get(beat.job_id) is None for beat in beats):
        entries = {(each.name, each.fence): each for each in desk.index.of(worker)}
    pulses = [_prolong(desk, worker, beat, lease, entries) for beat in beats]
    listed = {(name_of(beat.job_id), beat.fence) for beat in beats}
    for entry in entries.values() if answered >= 0 else ():
        if (entry.name, entry.fence) not in listed:
            _give_back(desk, worker, entry, answered)
    return pulses


def _prolong(
    desk: Desk, worker: str, beat: Beat, seconds: float, entries: dict[tuple[str, int], Indexed]
) -> Pulse:
    lost = Pulse(beat.job_id, beat.fence, held=False)
    name = name_of(beat.job_id)
    claim = desk.claims.get(beat.job_id)
    entry = entries.get((name, beat.fence))
    if claim is None and entry is None:
        desk.store.check_root()
        return lost
    folders = desk.store.folders(claim.row.queue if claim is not None else entry.queue)  # type: ignore[union-attr]
    with held(desk.store, folders, name) as place:
        if place is None:
            desk.store.check_root()
            desk.claims.forget(beat.job_id)
            return lost
        current = _current(desk, place, claim)
        if current is None or not _is(current, beat.fence, worker):
            return lost
        asked = read_ask(desk.store, place, beat.fence)
        # An ask was answered, and it holds only as long as the lease it is about can be read.
        _write(desk, place, current, beat, seconds, sync=asked is not None)
        return Pulse(beat.job_id, beat.fence, held=True, asked=asked)


def _is(claim: Claim, fence: int, worker: str) -> bool:
    return claim.lease.fence == fence and claim.lease.worker == worker


def _current(desk: Desk, place: Held, claim: Claim | None) -> Claim | None:
    """The job's current claim, whoever made it."""
    content = desk.store.disk.read("lease.json", place.lock)
    if content is None or desk.store.ended(place.folders, place.name):
        return None
    if claim is not None and claim.content == content:
        return claim
    lease = Lease.read(content)
    try:
        row = read_job(desk.store, place)
    except Unreadable:
        return None
    if row is None or lease is None or row.state is not State.PROCESSING:
        return None
    return Claim(row, lease, content, None)


def _write(
    desk: Desk, place: Held, claim: Claim, beat: Beat, seconds: float, *, sync: bool
) -> None:
    store, lease, row = desk.store, claim.lease, claim.row
    row.report(beat.percent, beat.note, beat.logs)
    if beat.checkpoint is not None:
        row.stored_checkpoint = beat.checkpoint
    if beat.checkpoint is not None or beat.logs:
        content = _history_of_claim(row)
        durable = beat.checkpoint is not None
        # Log lines may be lost with the power, but not the job whose only past this file is.
        store.put_in(place, "history.json", content, sync=durable, whole=True)
        row.own_facts = True
    lease.percent, lease.note = row.percent, row.note
    lease.nonce = store.nonce()
    store.prolong(lease, store.now(), seconds)
    row.heartbeat_at, row.expires_at = lease.heartbeat_at, lease.expires_at
    claim.content = lease.text()
    store.put_in(place, "lease.json", claim.content, sync=sync)


def _history_of_claim(row: Row) -> bytes:
    """The history as it was before the running claim, which its lease alone tells."""
    row.fence -= 1
    row.attempts -= 1
    row.state = State.PENDING
    try:
        return history_text(row)
    finally:
        row.fence += 1
        row.attempts += 1
        row.state = State.PROCESSING


def _give_back(desk: Desk, worker: str, entry: Indexed, answered: int) -> None:
    store = desk.store
    with held(store, store.folders(entry.queue), entry.name) as place:
        if place is None:
            store.disk.unlink(entry.path)
            return
        claim = _current(desk, place, None)
        if claim is None or not _is(claim, entry.fence, worker) or claim.lease.turn > answered:
            return
        now = store.now()
        endings.give_back(claim.row, now)
        end_in_record(store, place, claim.row, now)
        store.disk.unlink(entry.path)
        desk.claims.forget(claim.row.id)
