"""One measurement in a process of its own, as one line of JSON.

`python -m bench.once CONTENDER push|push_many|drain1|drain2|idle JOBS`, in any environment.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from bench import measure
from bench.contender import Contender, find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIMIT: Final = 8.0
"""Seconds after which the rate so far counts: some queues would take minutes."""


def _push_many(kind: type[Contender], jobs: int) -> list[float | None]:
    has_one = kind.push_many is not Contender.push_many
    return [measure.push_many(kind, jobs) if has_one else None]


MEASURES: Final[Mapping[str, Callable[[type[Contender], int], list[float | None]]]] = {
    "push": lambda kind, jobs: [measure.push(kind, jobs)],
    "push_many": _push_many,
    "drain1": lambda kind, jobs: [measure.drain(kind, jobs, 1, LIMIT)],
    "drain2": lambda kind, jobs: [measure.drain(kind, jobs, 2, LIMIT)],
    "idle": lambda kind, jobs: [*measure.idle(kind, jobs)],
}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[2]](find(sys.argv[1]), int(sys.argv[3]))) + "\n")
