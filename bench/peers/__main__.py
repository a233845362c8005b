"""`python -m bench.peers`: other queues beside ours and beside the raw loop, all on SQLite.

Each library is installed from PyPI into an environment of its own, which is thrown away at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.machine import load, machine
from bench.peers.entrant import Entrant
from bench.peers.league import Standing, play, table

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS: Final = 3
OUTPUT: Final = Path(__file__).resolve().parent.parent / "peers.json"
OURS: Final = (
    Entrant("raw loop", "bench.raw_sqlite:RawSqlite"),
    Entrant("ferryman", "bench.ours:OursOnSqlite", "ferryman"),
)
PEERS: Final = (
    Entrant("huey", "bench.peers.on_huey:Huey", "huey"),
    Entrant("litequeue", "bench.peers.on_litequeue:Lite", "litequeue"),
    Entrant("persist-queue", "bench.peers.on_persist_queue:Persist", "persist-queue"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ferryman-peers-") as folder:
        installed = [peer.install(Path(folder)) for peer in PEERS if peer.name in asked.peers]
        standings = play([*OURS, *installed], runs=asked.runs, jobs=asked.jobs, say=_say)
    asked.output.write_text(_as_json(standings))
    sys.stdout.write(f"{machine()}, {load()}\n\n{table(standings)}\n")
    return 0


def _as_json(standings: Sequence[Standing]) -> str:
    return json.dumps([standing.row() for standing in standings], indent=2) + "\n"


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench.peers", description=__doc__)
    names = [peer.name for peer in PEERS]
    parser.add_argument("peers", nargs="*", default=names, help=f"which of {', '.join(names)}")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each workload ({RUNS})")
    parser.add_argument("--jobs", type=int, help="this many in each workload, to try it out")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="default: bench/peers.json")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
