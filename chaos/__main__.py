"""`python -m chaos`: run one campaign and judge it. Exit code 0 only if nothing was broken."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.broken import BROKEN
from chaos.campaign import run
from chaos.plan import Plan
from chaos.progress import progress
from chaos.report import Report, write_result
from chaos.stores import STORES, store_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaos.stores import Store

RESULTS = Path(__file__).with_name("results.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: clean; 1: a promise was broken; 2: nothing was run; 130: broken off."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        store = store_named(options.backend)
    except ValueError as refusal:
        parser.error(str(refusal))
    plan = Plan.of(options.seed, options.kills)
    again = f"python -m chaos --backend {store.name} --kills {plan.kills} --seed {plan.seed}"
    if options.broken:
        again += f" --broken {options.broken}"
    _say(f"seed {plan.seed}: {plan.kills} kills within {plan.seconds:.0f} s; again: {again}")
    for number in (signal.SIGINT, signal.SIGTERM):
        # However we are ended, nobody and nothing is left behind.
        signal.signal(number, signal.default_int_handler)
    try:
        report = _campaign(plan, store, options.broken)
    except KeyboardInterrupt:
        _say("broken off: every process is gone, nothing was judged")
        return 130
    if options.results is not None or options.broken is None:
        write_result(options.results or RESULTS, report.row())
    _say("", "clean" if report.clean else f"PROMISES WERE BROKEN; the same plan again: {again}")
    return 0 if report.clean else 1


def _campaign(plan: Plan, store: Store, broken: str | None) -> Report:
    shown = progress(plan.kills)
    with tempfile.TemporaryDirectory(prefix="ferryman-chaos-") as folder:
        try:
            outcome = run(plan, store, Path(folder), shown, broken)
        finally:
            shown.close()
        report = Report.of(store.name, outcome)
        # The stories are in the folder.
        _say(*report.lines())
    return report


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m chaos", description=__doc__)
    parser.add_argument("--backend", default="sqlite", help=f"one of {', '.join(STORES)}")
    parser.add_argument("--kills", type=_positive, default=1_000, help="SIGKILLs (1000)")
    parser.add_argument(
        "--seed",
        type=int,
        default=secrets.randbits(32),
        help="the same seed gives the same plan (default: a new one)",
    )
    parser.add_argument(
        "--broken", choices=sorted(BROKEN), help="run a build that is broken on purpose"
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="a JSON file with the last result of each backend (default: results.json beside the "
        "code; for a broken build none)",
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
