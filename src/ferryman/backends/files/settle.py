"""settle: many claims end together, each by its own record; a batch only shares the fsyncs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from ferryman.backends.files import endings
from ferryman.backends.files.disk import SyncFailed
from ferryman.backends.files.document import Unreadable, record_text
from ferryman.backends.files.finish import finish_if_ended, hand_off
from ferryman.backends.files.names import name_of
from ferryman.backends.files.place import Held
from ferryman.backends.files.push import push
from ferryman.backends.files.reading import find, make_durable, read_job
from ferryman.backends.files.removal import remove_job
from ferryman.job import State
from ferryman.queue.settlement import Receipt, make_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.files.desk import Desk
    from ferryman.backends.files.layout import Folders
    from ferryman.backends.files.row import Row
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement

TOGETHER: Final = 200
"""Jobs whose locks are held at once."""


def settle(desk: Desk, settlements: Sequence[Settlement]) -> list[Receipt]:
    """One receipt for each settlement, in order.

    Trouble with one job is raised when the others have ended: it may be that of its queue alone.
    """
    receipts: dict[int, Receipt] = {}
    trouble: OSError | None = None
    for numbered in _chunks(settlements):
        chunk = Chunk(desk, numbered)
        with desk.store.baton if chunk.together else contextlib.nullcontext():
            receipts |= chunk.settle()
        trouble = trouble or chunk.trouble
    if trouble is not None:
        raise trouble
    return [receipts[number] for number in range(len(settlements))]


def _chunks(settlements: Sequence[Settlement]) -> Iterator[list[tuple[int, Settlement]]]:
    chunk: list[tuple[int, Settlement]] = []
    ids: set[str] = set()
    for number, settlement in enumerate(settlements):
        if len(chunk) >= TOGETHER or settlement.job_id in ids:
            yield chunk
            chunk, ids = [], set()
        chunk.append((number, settlement))
        ids.add(settlement.job_id)
    if chunk:
        yield chunk


def _by_name(numbered: tuple[int, Ending]) -> str:
    return numbered[1].name


class Ending:
    """One claim on its way to its end, its job locked."""

    __slots__ = ("folders", "index", "lease", "lock", "name", "row", "settlement", "tmp")

    def __init__(self, desk: Desk, settlement: Settlement) -> None:
        self.settlement = settlement
        self.folders: Folders = desk.store.folders(settlement.queue)
        self.name = name_of(settlement.job_id)
        self.lock: int | None = None
        self.row: Row | None = None
        self.index: str | None = None
        self.lease = b""
        self.tmp: str | None = None


class Chunk:
    """Settlements of different jobs."""

    def __init__(self, desk: Desk, numbered: list[tuple[int, Settlement]]) -> None:
        self._desk = desk
        self._store = desk.store
        self._endings = [(number, Ending(desk, each)) for number, each in numbered]
        self.together = desk.store.sync_together(len(numbered))
        self._receipts: dict[int, Receipt] = {}
        self.trouble: OSError | None = None
        """What kept a job from ending; it has no receipt then, or none that counts."""

    def settle(self) -> dict[int, Receipt]:
        now = self._store.now()
        ended: list[Ending] = []
        try:
            # In one order everywhere: two batches with the same jobs never wait for each other.
            for number, ending in sorted(self._endings, key=_by_name):
                if self._prepare(number, ending, now):
                    ended.append(ending)
            if ended:
                self._commit(ended)
        except BaseException:
            for _, ending in self._endings:
                self._desk.claims.forget(ending.settlement.job_id)
            raise
        finally:
            for _, ending in self._endings:
                self._release(ending)
        return self._receipts

    def _prepare(self, number: int, ending: Ending, now: float) -> bool:
        """Whether a record waits for its commit."""
        try:
            waits = self._check(number, ending) and self._apply(ending, now)
        except OSError as error:
            self._leave(ending, error)
            return False
        if ending.row is not None and number not in self._receipts:
            self._receipts[number] = make_receipt(ending.row.id, True, ending.row.state)
        return waits

    def _leave(self, ending: Ending, error: OSError) -> None:
        """Go on without a job: its queue's folder may be in a state that others need not mind."""
        if isinstance(error, SyncFailed):
            raise error
        self.trouble = self.trouble or error
        self._desk.claims.forget(ending.settlement.job_id)
        self._release(ending)
        ending.row = None

    def _check(self, number: int, ending: Ending) -> bool:
        """Lock the job and see whether the claim is its current one; else answer."""
        store, settlement = self._store, ending.settlement
        lock = ending.lock = store.disk.lock(f"{ending.folders.pending}/{ending.name}")
        row = None if lock is None else self._claimed(ending, lock)
        if row is None:
            with store.baton.let_go():
                self._receipts[number] = self._answer(settlement)
            self._desk.claims.forget(settlement.job_id)
            self._release(ending)
            return False
        ending.row = row
        return True

    def _claimed(self, ending: Ending, lock: int) -> Row | None:
        """The row of a claim that is current, fence and worker agreeing."""
        store, settlement = self._store, ending.settlement
        content = store.disk.read("lease.json", lock)
        if content is None:
            return None
        place = Held(ending.folders, ending.name, lock)
        ending.lease = content
        claim = self._desk.claims.get(settlement.job_id)
        if claim is not None and claim.content == content:
            row = claim.row
            ending.index = claim.index
        else:
            try:
                found = read_job(store, place)
            except Unreadable:
                return None
            if found is None or found.state is not State.PROCESSING:
                return None
            row = found
        if row.fence != settlement.fence or row.worker != settlement.worker:
            return None
        if finish_if_ended(store, place, row):
            return None
        return row

    def _answer(self, settlement: Settlement) -> Receipt:
        """What to say about a claim that is not current: applied if this very one ended it."""
        found = find(self._store, settlement.job_id)
        if found is None:
            return Receipt(settlement.job_id, False)
        folders, row = found
        applied = row.settled == settlement.mark
        if applied:
            make_durable(self._store, folders, row)
        return make_receipt(row.id, applied, row.state)

    def _apply(self, ending: Ending, now: float) -> bool:
        """Change the row and write what it became; True if a record waits for its commit."""
        store, row = self._store, ending.row
        if row is None or ending.lock is None:
            return False
        endings.settle(row, ending.settlement, now)
        if row.state.terminal:
            ending.tmp = f"{store.layout.tmp}/{store.nonce()}"
            store.disk.create(ending.tmp, record_text(row), sync=not self.together)
            return True
        with store.baton.let_go():
            place = Held(ending.folders, ending.name, ending.lock)
            endings.return_to_queue(store, place, row, now)
        self._forget(ending)
        return False

    def _commit(self, ended: list[Ending]) -> None:
        store = self._store
        if self.together:
            with store.baton.let_go():
                store.sync_all()
        folders: set[str] = set()
        for ending in ended:
            try:
                folders |= self._put_record(ending)
            except OSError as error:
                self._leave(ending, error)
        with store.baton.let_go():
            for folder in folders:
                store.disk.sync_folder(folder)
            self._hand_over()
        for ending in ended:
            self._remove(ending)

    def _put_record(self, ending: Ending) -> set[str]:
        """Let a record appear: the commit. In which folder it is now."""
        store, row = self._store, ending.row
        if row is None or ending.tmp is None:
            return set()
        folder = ending.folders.ends[row.state]
        if ending.lock is not None:
            store.disk.set_hinted(ending.lock, False)
        store.commit()
        store.disk.rename(ending.tmp, f"{folder}/{ending.name}.json")
        ending.tmp = None
        return {folder}

    def _hand_over(self) -> None:
        """Push the children, without any lock: a child's key may belong to a job that is held.

        They enter in the order of the settlements, not of the locks.
        """
        parents = [each for _, each in self._endings if each.row is not None and each.row.children]
        if not parents:
            return
        children: list[Message] = []
        for ending in parents:
            self._release(ending)
            if ending.row is not None:
                children += ending.row.children
        push(self._store, children)
        for ending in parents:
            lock = self._store.disk.lock(f"{ending.folders.pending}/{ending.name}")
            ending.lock = lock
            if lock is not None and ending.row is not None:
                if self._store.disk.read("lease.json", lock) == ending.lease:
                    hand_off(self._store, ending.folders, ending.row)
                else:  # somebody has finished this already, and the job may be another by now
                    self._release(ending)

    def _remove(self, ending: Ending) -> None:
        """Take the folder away; the files that are known to be there are the only ones tried."""
        lock, row, disk = ending.lock, ending.row, self._store.disk
        if lock is None or row is None:
            return
        disk.unlink("task.json", lock)
        if row.own_facts:
            disk.unlink("history.json", lock)
        disk.unlink("lease.json", lock)
        if not disk.remove_folder(ending.folders.job(ending.name)):
            remove_job(self._store, Held(ending.folders, ending.name, lock))
        self._forget(ending)

    def _forget(self, ending: Ending) -> None:
        self._desk.claims.forget(ending.settlement.job_id)
        if ending.index is not None:
            self._store.disk.unlink(ending.index)

    def _release(self, ending: Ending) -> None:
        if ending.lock is not None:
            self._store.disk.unlock(ending.lock)
            ending.lock = None
        if ending.tmp is not None:
            with contextlib.suppress(OSError):
                self._store.disk.unlink(ending.tmp)
            ending.tmp = None
