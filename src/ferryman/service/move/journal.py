"""Which jobs are between the two stores, remembered in the target."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ferryman.ids import new_id
from ferryman.job import State
from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.contract import Backend

MARK: Final = "move/mark"
CELLS: Final = "move/from/"


class Journal:
    """The page that is being moved. Its pending jobs are paused at the target until they are gone
    from the source, so that whatever happens in between, only one store can run them.
    """

    def __init__(self, source: Backend, target: Backend) -> None:
        self._target = target
        self._key = CELLS + _mark(source)

    def read(self) -> tuple[Sequence[str], Sequence[str]]:
        """The ids of the page that a killed move left, and which of them were pending."""
        cell = read_cell(self._target, self._key)
        if cell is None:
            return (), ()
        page = json.loads(cell.value)
        return page["jobs"], page["pending"]

    def write(self, jobs: Sequence[Job]) -> None:
        """Begin a page."""
        page = {
            "jobs": [job.id for job in jobs],
            "pending": [job.id for job in jobs if job.state is State.PENDING],
        }
        self._target.write_cell(self._key, json.dumps(page), expect=None)

    def clear(self) -> None:
        """Nothing is in between any more."""
        self._target.write_cell(self._key, None, expect=None)


def _mark(source: Backend) -> str:
    """A name for the source that does not depend on how its URL is written."""
    source.write_cell(MARK, new_id(), expect=0)
    return next(cell.value for cell in source.read_cells(MARK) if cell.key == MARK)
