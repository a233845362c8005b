"""Runs the conformance suite on every backend and writes what it showed into docs/contract.md."""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ferryman.queue.capabilities import Capabilities

WHOLE = tuple(f"tests/system/test_{name}.py" for name in ("strict_s3", "relaxed_s3", "sqs"))
"""Where the whole suite runs on stores of which `make test` has a choice."""
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "contract.md"
START, END = "<!-- run -->\n", "<!-- /run -->"


@dataclass(slots=True)
class Run:
    """What the suite showed of one backend: cases that passed, and those skipped, by capability."""

    backend: str
    capabilities: dict[str, Any]
    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def main(arguments: Sequence[str]) -> int:
    """The exit code of the suite; the page is written only if every case passed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count())]
        command += ["tests/conformance", *WHOLE]
        command += ["-k", "not the_suite_can_see", f"--junitxml={report}"]
        code = subprocess.run([*command, *arguments], cwd=ROOT, check=False).returncode
        if code == 0:
            text = page(PAGE.read_text(), runs(report))
            PAGE.write_text(text)
    return code


def runs(report: Path) -> list[Run]:
    """One for each backend, in the order of their names; memory, the reference, first."""
    cases: dict[str, list[ET.Element]] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest's own, made a moment ago
        cases.setdefault(case.get("classname", ""), []).append(case)
    # A class that runs only a choice of the cases, on a second server, tells no capabilities.
    found = [run for same in cases.values() if (run := _run(same)).capabilities]
    return sorted(found, key=lambda run: (run.backend != "memory", run.backend))


def page(text: str, shown: Sequence[Run]) -> str:
    """The page with the table of a run."""
    before, _, rest = text.partition(START)
    return before + START + table(shown) + END + rest.partition(END)[2]


def table(shown: Sequence[Run]) -> str:
    """Capabilities first, then how many cases stand behind them."""
    names = [one.name for one in fields(Capabilities) if one.name != "backend"]
    reasons = sorted({reason for run in shown for reason in run.skipped})
    rows = [
        ["", *(run.backend for run in shown)],
        ["---"] * (len(shown) + 1),
        *([_words(name), *(_cell(run.capabilities[name]) for run in shown)] for name in names),
        ["cases passed", *(str(run.passed) for run in shown)],
        *(
            [f"cases skipped: {_words(reason)}", *(str(run.skipped[reason]) for run in shown)]
            for reason in reasons
        ),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _run(cases: Iterable[ET.Element]) -> Run:
    run = Run("", {})
    for case in cases:
        for one in case.iter("property"):
            if one.get("name") == "capabilities":
                run.capabilities = json.loads(one.get("value", ""))
        skipped = case.find("skipped")
        if skipped is None:
            run.passed += 1
        else:
            run.skipped[skipped.get("message", "").split("'")[1]] += 1
    run.backend = str(run.capabilities.get("backend"))
    return run


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: Any) -> str:
    return {True: "yes", False: "no", None: "no limit"}.get(value, str(value))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
