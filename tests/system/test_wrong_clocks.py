"""A worker whose clock is an hour off starts nothing early and steals nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.open import open_backend
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from typing import Any

HOUR = 3_600


@pytest.fixture(params=["file", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"file://{tmp_path}/queues"
    return str(request.getfixturevalue("postgres_url"))


def stranger(url: str, hours: int) -> Any:
    """What a process says whose wall clock is off by so many hours.

    The times of files and the steady clock are the kernel's and stay true.
    """
    [library] = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
    wrong = {"LD_PRELOAD": str(library), "FAKETIME": f"{hours:+d}h"}
    true = {"NO_FAKE_STAT": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.system.stranger", url],
        env={**os.environ, **wrong, **true},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_worker_whose_clock_is_wrong_takes_only_what_is_due(url: str, hours: int) -> None:
    store = open_backend(url)
    store.push([Message.of("mail", "send", id=name) for name in ("held", "due")])
    [held] = store.poll("right", {"mail": 1}, lease=60)
    store.push([Message.of("mail", "send", id="later", delay=600)])

    facts = stranger(url, hours)
    assert abs(facts["time"] - time.time() - hours * HOUR) < 60, "its clock was not wrong"
    assert (facts["reaped"], facts["claimed"]) == ([], ["due"])

    [new] = store.poll("right", {"mail": 9}, lease=60)
    assert (new.id, abs(new.created_at - time.time()) < 60) == ("new", True)
    assert list(store.reap()) == []
    assert store.settle([Settlement.of(held, Verdict.ACK)])[0].applied
    store.close()
