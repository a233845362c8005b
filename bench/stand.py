"""A fresh place for one measurement: folder, queue and marks, all gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from bench.contender import Contender, payload
from bench.crew import crew_of
from bench.marks import Marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.crew import Crew

C = TypeVar("C", bound=Contender)

FILL: Final = 1_000


class Stand(Generic[C]):
    """One contender, ready to be measured. `mark` is what its handler does: count or delay."""

    def __init__(self, kind: type[C], folder: Path, mark: str) -> None:
        self.marks = Marks(folder / "marks")
        self._mark = mark
        self.contender = kind(folder, getattr(self.marks, mark))

    def fill(self, jobs: int) -> None:
        """Let this many jobs wait."""
        for start in range(0, jobs, FILL):
            numbers = range(start, min(jobs, start + FILL))
            self.contender.push_many([payload(number) for number in numbers])

    def crew(self, size: int) -> Crew:
        return crew_of(self.contender, size, self._mark)

    def close(self) -> None:
        self.contender.close()
        self.marks.close()


@contextmanager
def stand_for(
    kind: type[C], mark: str = "count", *, home: Path | None = None
) -> Iterator[Stand[C]]:
    """In a new folder of `home`, else of the current one.

    That is where disks are: a memory file system would hide what commits cost.
    """
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir=home or Path.cwd()))
    try:
        stand = Stand(kind, folder, mark)
        try:
            yield stand
        finally:
            stand.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
