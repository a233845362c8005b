"""What a pipeline is, as data: its stages in order, which commands can read without the code."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ferryman.tasks.spared import PIPELINE_CELLS as CELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.contract import Backend
    from ferryman.tasks.route import Failed


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: jobs of the task of its name, in a queue, `after` other stages."""

    name: str
    queue: str
    after: tuple[str, ...] = ()
    collects: Failed | None = None


@dataclass(frozen=True)
class Shape:
    """Stages in an order in which none comes before one that leads to it; the first one first."""

    name: str
    stages: tuple[Stage, ...]

    @cached_property
    def by_name(self) -> dict[str, Stage]:
        return {stage.name: stage for stage in self.stages}

    @property
    def first(self) -> Stage:
        return self.stages[0]

    @cached_property
    def last(self) -> tuple[str, ...]:
        """The stages that nothing follows."""
        return tuple(stage.name for stage in self.stages if not self.next_of(stage.name))

    @property
    def collecting(self) -> Sequence[Stage]:
        """The stages behind a barrier."""
        return [stage for stage in self.stages if stage.collects is not None]

    def next_of(self, name: str) -> Sequence[Stage]:
        """The stages right after one."""
        return [stage for stage in self.stages if name in stage.after]

    def before(self, name: str) -> Sequence[str]:
        """All stages that lead to one, in order."""
        found: set[str] = set()
        for stage in reversed(self.stages):
            if stage.name == name or stage.name in found:
                found |= {*stage.after}
        return [stage.name for stage in self.stages if stage.name in found]

    def following(self, name: str) -> Sequence[str]:
        """All stages to which one leads, in order."""
        found = {name}
        for stage in self.stages:
            if found & {*stage.after}:
                found.add(stage.name)
        return [stage.name for stage in self.stages if stage.name in found and stage.name != name]

    def fed_by(self, name: str) -> frozenset[str]:
        """The queues of the stages right after one.

        Not those that it, or what leads to it, stands in as well: they would wait for each other.
        """
        behind = {self.by_name[stage].queue for stage in (*self.before(name), name)}
        return frozenset(stage.queue for stage in self.next_of(name)) - behind

    def awaited_in(self, name: str) -> frozenset[str]:
        """The queues in which barriers wait for a stage."""
        after = {stage.name for stage in self.collecting} & {*self.following(name)}
        return frozenset(self.by_name[stage].queue for stage in after)

    def text(self) -> str:
        return json.dumps({"stages": [asdict(stage) for stage in self.stages]})

    @classmethod
    def parse(cls, name: str, text: str) -> Shape:
        stages = json.loads(text)["stages"]
        return cls(name, tuple(Stage(**{**each, "after": tuple(each["after"])}) for each in stages))


def publish(backend: Backend, shape: Shape) -> None:
    """Let commands that do not have the code know this pipeline."""
    text = shape.text()
    key = CELLS + shape.name
    if not any((cell.key, cell.value) == (key, text) for cell in backend.read_cells(key)):
        backend.write_cell(key, text, expect=None)


def published(backend: Backend) -> Sequence[Shape]:
    """The pipelines that have had runs in a store, by name."""
    cells = backend.read_cells(CELLS)
    return [Shape.parse(cell.key.removeprefix(CELLS), cell.value) for cell in cells]
