"""A fan-out of 100,000 children, in a process whose memory is watched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ferryman import Ferry, State

ROOT = Path(__file__).parents[2]
MANY = 100_000
MOST_MIB = 50.0

PROGRAM = """
import resource, sys
from collections.abc import Iterator
from ferryman import Ferry

ferry = Ferry(sys.argv[1])


@ferry.task(queue="wide")
def numbers(n: int) -> Iterator[dict[str, int]]:
    for number in range(n):
        yield {"number": number}


@ferry.task(queue="narrow")
def one(item: dict[str, int]) -> int:
    return item["number"]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


run = ferry.pipeline("wide", numbers >> one).push(700)
ferry.run_batch(1, stage="numbers")
before = peak()
ferry.pipelines["wide"].push(int(sys.argv[2]))
ferry.run_batch(1, stage="numbers")
while ferry.backend.snapshot().queues["narrow"].states.get("paused"):
    ferry.run_batch(1, stage="numbers")
print(peak() - before)
"""


@pytest.mark.timeout(900)
def test_a_hundred_thousand_children_are_staged_in_bounded_memory(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    program = tmp_path / "wide.py"
    program.write_text(PROGRAM)
    ran = subprocess.run(
        [sys.executable, str(program), url, str(MANY)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(ran.stdout) < MOST_MIB
    with Ferry(url) as ferry:
        counts = ferry.backend.snapshot().queues["narrow"].states
    assert counts == {State.PENDING: MANY + 700}
