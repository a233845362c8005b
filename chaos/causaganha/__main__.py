"""`python -m chaos.causaganha`: editions through all stages while a worker dies every second."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chaos.causaganha.passage import BACKENDS, Terms
from chaos.causaganha.verdict import judged
from chaos.report import table, write_result

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS: Final = Path(__file__).with_name("results.json")
WORKERS: Final = 6
_TOLD: Final = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every edition came to its end, and once; 1: something was broken; 130: broken off."""
    options = _parser().parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        # However we are ended, nobody and nothing is left behind.
        signal.signal(number, signal.default_int_handler)
    terms = Terms(
        backend=options.backend,
        editions=options.editions,
        workers=WORKERS,
        seed=options.seed,
        rough=True,
    )
    _say(f"seed {terms.seed}: {terms.editions} editions on {terms.backend}")
    try:
        with tempfile.TemporaryDirectory(prefix="causaganha-chaos-") as folder:
            found = judged(terms, Path(folder), _say)
    except KeyboardInterrupt:
        _say("broken off: every process is gone, nothing was judged")
        return 130
    write_result(options.results, found.row())
    _say("", *table([found.row()]), *list(found.findings())[:_TOLD])
    _say("clean" if found.clean else "PROMISES WERE BROKEN", f"{found.rough.seconds:.0f} s")
    return 0 if found.clean else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m chaos.causaganha", description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="sqlite")
    parser.add_argument("--editions", type=int, default=200)
    parser.add_argument(
        "--seed",
        type=int,
        default=secrets.randbits(32),
        help="decides the order of arrival and who is killed (default: a new one)",
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="where the last result of each store is kept"
    )
    return parser


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
