"""`python -m bench.peers`: other queues beside ours and beside the raw loop, on the same store.

Each library is installed from PyPI or npm into an environment of its own, thrown away at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.machine import load, machine
from bench.peers.leagues import LEAGUES
from bench.peers.standings import play, table

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS: Final = 3
OUTPUT: Final = Path(__file__).resolve().parent.parent / "peers.json"


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    rows = []
    sys.stdout.write(f"{machine()}, {load()}\n")
    with tempfile.TemporaryDirectory(prefix="ferryman-peers-") as folder:
        for store in asked.stores:
            league = LEAGUES[store]
            peers = [peer.install(Path(folder)) for peer in league.peers]
            entrants = [league.raw, league.ours, *peers]
            with league.server():
                standings = play(
                    entrants, league.folder, runs=asked.runs, jobs=asked.jobs, say=_say
                )
            rows += [{"store": store, **standing.row()} for standing in standings]
            sys.stdout.write(f"\n{store}, in {league.folder}\n{table(standings)}\n")
    asked.output.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.peers", description=__doc__)
    stores = list(LEAGUES)
    parser.add_argument("stores", nargs="*", default=stores, help="only on these")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each workload ({RUNS})")
    parser.add_argument("--jobs", type=int, help="this many in each workload, to try it out")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="default: bench/peers.json")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
