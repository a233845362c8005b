"""`python -m bench`: measure, print a table, write the results; exit code 1: a gate is missed."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.contest import hold
from bench.machine import load, machine
from bench.programme import BACKENDS, programme
from bench.progress import progress_on
from bench.result import as_json, merged, read
from bench.table import table
from bench.workloads import Sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS: Final = 5
HERE: Final = Path(__file__).resolve().parent
LONG_BACKLOG: Final = 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    # Folders and worker processes are cleared away by whatever ends the contest.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(128 + signal.SIGTERM))
    backends = [asked.backend] if asked.backend else list(BACKENDS)
    events = list(programme(backends, long=asked.long, only=asked.only))
    if not events:
        sys.stderr.write(f"no workload {asked.only!r} for {', '.join(backends)}\n")
        return 2
    runs = asked.runs or (1 if asked.long else RUNS)
    with progress_on(len(events) * runs) as watcher:
        results = hold(events, _sizes(asked), runs=runs, watcher=watcher)
    output = asked.output or HERE / ("long.json" if asked.long else "results.json")
    known = read(output) if output.exists() else []
    kept = [row for row in known if asked.only or row.backend not in backends]
    output.write_text(as_json(merged(kept, results)))
    text = as_json(results) if asked.json else f"{machine()}, {load()}\n\n{table(results)}\n"
    sys.stdout.write(text)
    return 0 if all(result.met for result in results) else 1


def _sizes(asked: argparse.Namespace) -> Sizes:
    if asked.jobs is not None:
        return Sizes.all(asked.jobs)
    return Sizes(backlog=LONG_BACKLOG) if asked.long else Sizes()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--backend", choices=list(BACKENDS), help="only this one")
    parser.add_argument(
        "--long", action="store_true", help=f"backlogs of up to {LONG_BACKLOG:,} jobs"
    )
    parser.add_argument("--only", metavar="WORKLOAD", help="by its name in bench/programme.py")
    parser.add_argument("--runs", type=int, help=f"of each workload ({RUNS}; long ones, 1)")
    parser.add_argument("--jobs", type=int, help="this many in each workload, to try it out")
    parser.add_argument("--json", action="store_true", help="print the results instead of a table")
    parser.add_argument("--output", type=Path, help="where to write them (bench/results.json)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
