"""What every process of a campaign is given when it is forked."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.cast import node_of
from chaos.journal import Journal, read, story

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from chaos.plan import Plan
    from chaos.records import Record


@dataclass(frozen=True, slots=True)
class Scene:
    """One campaign's folder, store and plan. `began` is monotonic time, the same in all processes.

    `urls` by node are what the processes open: a deliberately broken build has some of its own.
    """

    folder: Path
    urls: Mapping[str, str]
    sound: Mapping[str, str]
    plan: Plan
    began: float

    def url(self, name: str) -> str:
        """The store as a member of the cast opens it."""
        return self.urls[node_of(name)]

    @property
    def is_sound(self) -> bool:
        return self.urls == self.sound

    def journal(self, name: str) -> Journal:
        """The journal of a member of the cast; its next life continues it."""
        return Journal(self.folder / f"{name}.journal")

    def records(self) -> Iterator[Record]:
        """Everything that anyone wrote down."""
        for path in self._journals():
            yield from read(path)

    def story(self, job_id: str) -> Sequence[str]:
        """Every line about one job, in order of time."""
        return story(self._journals(), job_id)

    @property
    def now(self) -> float:
        """Seconds since the campaign began."""
        return time.monotonic() - self.began

    def wait_for(self, at: float) -> None:
        """Sleep until that many seconds since the beginning; at once if that is past."""
        time.sleep(max(0.0, at - self.now))

    def _journals(self) -> Sequence[Path]:
        return sorted(self.folder.glob("*.journal"))
