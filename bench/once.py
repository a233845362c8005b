"""One measurement in a process of its own, as one line of JSON.

`python -m bench.once CONTENDER push|push_many|drain1|drain2|idle JOBS HOME`, in any environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench import measure
from bench.contender import Contender, find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIMIT: Final = 8.0
"""Seconds after which the rate so far counts: some queues would take minutes."""


def _push_many(kind: type[Contender], jobs: int, home: Path) -> list[float | None]:
    has_one = kind.push_many is not Contender.push_many
    return [measure.push_many(kind, jobs, home) if has_one else None]


MEASURES: Final[Mapping[str, Callable[[type[Contender], int, Path], list[float | None]]]] = {
    "push": lambda kind, jobs, home: [measure.push(kind, jobs, home)],
    "push_many": _push_many,
    "drain1": lambda kind, jobs, home: [measure.drain(kind, jobs, 1, LIMIT, home)],
    "drain2": lambda kind, jobs, home: [measure.drain(kind, jobs, 2, LIMIT, home)],
    "idle": lambda kind, jobs, home: [*measure.idle(kind, jobs, home)],
}


def main(spec: str, work: str, jobs: str, home: str) -> None:
    sys.stdout.write(json.dumps(MEASURES[work](find(spec), int(jobs), Path(home))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
