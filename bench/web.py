"""`python -m bench.web`: the HTTP API and the dashboard over a very large store.

Exit code 1: a gate is missed. `--keep URL` measures a store that `bench.crowd` has filled before.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.contest import hold
from bench.crowd import FINISHED, WAITING, Crowd
from bench.machine import load, machine
from bench.progress import Lines
from bench.result import Pair, Result, as_json, read
from bench.stand import stand_for
from bench.table import table
from bench.web_figures import PARTS, figures
from bench.workloads import Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.workloads import Rivals


def web(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """Pages, lists, a scan, an open tab and mixed reads, all over one crowd."""
    with stand_for(rivals.ours) as stand:
        url = stand.contender.address()
        stand.contender.close()
        Crowd(sizes.finished, sizes.waiting).fill(url, _tell)
        while True:
            yield list(figures(url, sizes, _tell))


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    sizes = Sizes(finished=asked.finished, waiting=asked.waiting)
    if asked.quick:
        sizes = replace(sizes, rounds=10, tab_seconds=10.0, read_seconds=9.0)
    backend = "postgresql" if (asked.keep or "").startswith("postgres") else asked.backend
    if asked.keep:
        results = [
            Result.of(backend, [pair]) for pair in figures(asked.keep, sizes, _tell, asked.parts)
        ]
    else:
        from bench.programme import BACKENDS, Event

        [course] = BACKENDS[backend]
        event = Event(backend, course.rivals, web)
        results = hold([event], sizes, runs=1, watcher=Lines())
    if asked.output:
        names = {(result.backend, result.workload) for result in results}
        known = read(asked.output) if asked.output.exists() else []
        kept = [one for one in known if (one.backend, one.workload) not in names]
        asked.output.write_text(as_json([*kept, *results]))
    text = as_json(results) if asked.json else f"{machine()}, {load()}\n\n{table(results)}\n"
    sys.stdout.write(text)
    return 0 if all(result.met for result in results) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.web", description=__doc__)
    parser.add_argument("--backend", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--finished", type=int, default=FINISHED)
    parser.add_argument("--waiting", type=int, default=WAITING)
    parser.add_argument("--keep", metavar="URL", help="a store that has its crowd already")
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), help="only these")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter runs")
    parser.add_argument("--json", action="store_true", help="print the results instead of a table")
    parser.add_argument("--output", type=Path, help="put the results among those of this file")
    return parser


def _tell(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')}  {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
