"""One job's end, or its return to the queue, outside a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files import endings
from ferryman.backends.files.document import record_text
from ferryman.backends.files.finish import finish

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.files.row import Row
    from ferryman.backends.files.store import Store


def end_in_record(store: Store, place: Held, row: Row, now: float) -> None:
    """Write what a locked job's row became: a finished record, or pending or paused again."""
    if not row.state.terminal:
        endings.return_to_queue(store, place, row, now)
        return
    # Should the process die before the folder is gone, a sweep finds it by the missing mark.
    store.disk.set_hinted(place.lock, False)
    store.commit()
    store.put(place.folders.record(row.state, place.name), record_text(row))
    finish(store, place, row)
