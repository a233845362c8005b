"""`python -m chaos`: run a campaign and judge it. Exit code 0 only if nothing was broken."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.broken import BROKEN, ONLY_ON
from chaos.campaign import run
from chaos.plan import Plan
from chaos.progress import progress
from chaos.report import Report, table, write_result
from chaos.stores import STORES, stores_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaos.stores import Store

RESULTS = Path(__file__).with_name("results.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: clean; 1: a promise was broken; 2: nothing was run; 130: broken off."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        stores = _stores(options)
    except ValueError as refusal:
        parser.error(str(refusal))
    for number in (signal.SIGINT, signal.SIGTERM):
        # However we are ended, nobody and nothing is left behind.
        signal.signal(number, signal.default_int_handler)
    try:
        reports = [_campaign(store, options) for store in stores]
    except KeyboardInterrupt:
        _say("broken off: every process is gone, nothing was judged")
        return 130
    if len(reports) > 1:
        _say("", *table([report.row() for report in reports]))
    return 0 if all(report.clean for report in reports) else 1


def _stores(options: argparse.Namespace) -> Sequence[Store]:
    """What is run one after another; a broken build has no relaxed kind."""
    chosen = [
        f"--{name} {value}"
        for name in ("consistency", "ledger")
        if (value := getattr(options, name)) is not None
    ]
    if options.broken and options.backend != ONLY_ON.get(options.broken, options.backend):
        raise ValueError(f"--broken {options.broken} needs --backend {ONLY_ON[options.broken]}")
    stores = stores_named(options.backend, *chosen)
    if options.broken and stores[0].terms.may_end_twice:
        raise ValueError(f"--broken without {chosen[0]}: that promises too little")
    return stores[:1] if options.broken else stores


def _campaign(store: Store, options: argparse.Namespace) -> Report:
    plan = Plan.of(options.seed, options.kills or store.kills, store.cast)
    again = _command(store, plan, options)
    _say(f"seed {plan.seed}: {plan.kills} kills within {plan.seconds:.0f} s; again: {again}")
    shown = progress(plan.kills)
    with tempfile.TemporaryDirectory(
        prefix="ferryman-chaos-", ignore_cleanup_errors=True
    ) as folder:
        try:
            outcome = run(plan, store, Path(folder), shown, options.broken)
        finally:
            shown.close()
        report = Report.of(store.name, outcome)
        # The stories are in the folder.
        _say(*report.lines())
    if options.results is not None or options.broken is None:
        write_result(options.results or RESULTS, report.row())
    _say("", "clean" if report.clean else f"PROMISES WERE BROKEN; the same plan again: {again}")
    return report


def _command(store: Store, plan: Plan, options: argparse.Namespace) -> str:
    command = f"python -m chaos --backend {options.backend}"
    command += f" {store.option}" if store.option else ""
    command += f" --kills {plan.kills} --seed {plan.seed}"
    return f"{command} --broken {options.broken}" if options.broken else command


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m chaos", description=__doc__)
    parser.add_argument("--backend", default="sqlite", help=f"one of {', '.join(STORES)}")
    parser.add_argument(
        "--consistency",
        choices=["strict", "relaxed"],
        help="of s3 (default: a campaign on each, one after the other)",
    )
    parser.add_argument(
        "--ledger",
        choices=["sqlite", "none"],
        help="of sqs (default: a campaign with one, then one without)",
    )
    parser.add_argument("--kills", type=_positive, help="SIGKILLs (1000; s3: 200, sqs: 500)")
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
