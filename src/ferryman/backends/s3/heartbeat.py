"""heartbeat: leases are prolonged by conditional writes; lost claims are given back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferryman.backends.files import endings
from ferryman.backends.files.moments import whole
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Place
from ferryman.backends.files.reading import find_in
from ferryman.backends.s3.find import find
from ferryman.backends.s3.settle import TRIES, land, runs
from ferryman.backends.s3.sight import see, without_unreadable
from ferryman.backends.s3.swap import swap
from ferryman.errors import BackendUnavailable
from ferryman.job import State
from ferryman.queue.heartbeat import Beat, Pulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.claims import Indexed
    from ferryman.backends.files.row import Row
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight


def heartbeat(
    node: Node, worker: str, beats: Sequence[Beat], *, lease: float, answered: int
) -> list[Pulse]:
    """Prolong each listed claim; then give back what was claimed and never arrived."""
    entries: list[Indexed] = []
    if answered >= 0 or any(beat.job_id not in node.claims for beat in beats):
        entries = list(node.desk.index.of(worker))
    queues = {entry.name: entry.queue for entry in entries}
    prolong = partial(_prolong, node, worker, lease, queues)
    pulses = [pulse for run in runs(beats) for pulse in node.each(prolong, run)]
    listed = {(name_of(beat.job_id), beat.fence) for beat in beats}
    lost = [each for each in entries if (each.name, each.fence) not in listed]
    if answered >= 0:
        node.each(partial(_give_back, node, worker, answered), lost)
    return pulses


def _prolong(node: Node, worker: str, lease: float, queues: dict[str, str], beat: Beat) -> Pulse:
    name = name_of(beat.job_id)
    sight = node.claims.get(beat.job_id)
    if sight is None and name in queues:
        sight = node.mirror.read(Place(node.store.folders(queues[name]), name))
    if sight is None and _ended(node, name, beat.fence):
        return Pulse(beat.job_id, beat.fence, held=False)
    for _ in range(TRIES):
        if sight is None or not _is(sight.row, beat.fence, worker):
            # What is known here may be old: only the bucket can say that a claim is lost.
            sight = without_unreadable(partial(find, node, beat.job_id))
            if sight is None or not _is(sight.row, beat.fence, worker):
                node.claims.pop(beat.job_id, None)
                return Pulse(beat.job_id, beat.fence, held=False)
        row = sight.fork()
        now = node.store.now()
        row.report(beat.percent, beat.note, beat.logs)
        if beat.checkpoint is not None:
            row.stored_checkpoint = beat.checkpoint
        row.heartbeat_at, row.expires_at = now, whole(now + node.doubt + lease)
        written = swap(node, sight, row, turn=sight.turn)
        if written is not None:
            node.claims[beat.job_id] = written
            node.mirror.keep(written)
            return Pulse(beat.job_id, beat.fence, held=True, asked=row.asked)
        # Perhaps an operator asked something: then the claim is still ours.
        sight = None
    raise BackendUnavailable(f"job {beat.job_id!r} keeps changing: send the heartbeat again")


def _ended(node: Node, name: str, fence: int) -> bool:
    """Whether this node has seen the end of a claim, which never comes back."""
    for queue in node.store.queues():
        row = find_in(node.store, node.store.folders(queue), name)
        if row is not None:
            running = row.state is State.PROCESSING
            return row.fence > fence or (row.fence == fence and not running)
    return False


def _is(row: Row, fence: int, worker: str) -> bool:
    return row.state is State.PROCESSING and (row.fence, row.worker) == (fence, worker)


def _give_back(node: Node, worker: str, answered: int, entry: Indexed) -> None:
    sight: Sight | None = node.mirror.read(Place(node.store.folders(entry.queue), entry.name))
    for _ in range(TRIES):
        if sight is None or not _is(sight.row, entry.fence, worker) or sight.turn > answered:
            return
        row = sight.fork()
        endings.give_back(row, node.store.now())
        written = swap(node, sight, row)
        if written is not None:
            land(node, written)
            return
        sight = without_unreadable(partial(see, node, entry.queue, entry.name))
