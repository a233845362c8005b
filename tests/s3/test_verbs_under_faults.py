"""push, claim and ack while requests meet every fault of the line: once, and nothing lost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.errors import BackendUnavailable, OutcomeUnknown
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from tests.s3.conftest import IMPATIENT
from tests.s3.nodes import node
from tests.servers import faults
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.job import Job
    from tests.servers.line import Exchange, Line
    from tests.servers.shared import Server

pytestmark = pytest.mark.thorough


FAULTS: Final[dict[str, Callable[[Exchange], None]]] = {
    "error before": faults.error_before(500),
    "error after": faults.error_after(500),
    "slow down": faults.error_before(503, "SlowDown"),
    "conflict": faults.error_before(409, "ConditionalRequestConflict"),
    "cut before": faults.cut_before,
    "cut after": faults.cut_after,
    "cut inside": faults.cut_inside,
    "silent before": faults.silent_before,
    "silent after": faults.silent_after,
    "twice": faults.twice,
}
OBJECTS: Final = ("task.json", "lease.json", "job.json")
LEASE: Final = 600.0
TRIES: Final = 5


@pytest.fixture
def store(line: Line, aws_settings: None, tmp_path: Path) -> Iterator[StrictBackend]:
    bucket = Bucket(BUCKET, endpoint=line.address, patience=IMPATIENT)
    with closing(node(line.address, new_id(), tmp_path / "one", bucket=bucket)) as store:
        yield store


def again(act: Callable[[], object]) -> None:
    """What a caller does: repeat while the outcome is unknown or the store is away."""
    for _ in range(TRIES):
        try:
            act()
        except (OutcomeUnknown, BackendUnavailable):
            continue
        return
    raise AssertionError("it never came through")


@pytest.mark.parametrize("object_name", OBJECTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_job_runs_once_whatever_fault_its_writes_meet(
    fault: str, object_name: str, store: StrictBackend, line: Line
) -> None:
    claimed: list[Job] = []
    line.fault(FAULTS[fault], method="PUT", key=object_name)
    again(lambda: store.push([Message.of("mail", "send", "body", id="job")]))
    again(lambda: claimed.extend(store.poll("w", {"mail": 1}, lease=LEASE)))
    line.calm()
    claimed = claimed or list(store.poll("w", {"mail": 1}, lease=LEASE))
    assert [(job.id, job.fence) for job in claimed] == [("job", 1)]
    line.fault(FAULTS[fault], method="PUT", key=object_name)
    line.fault(FAULTS[fault], method="DELETE")
    receipts = []
    again(lambda: receipts.append(store.settle([Settlement.of(claimed[0], Verdict.ACK)])[0]))
    line.calm()
    assert receipts[-1].applied
    seen = store.get("job")
    assert seen is not None
    assert (seen.state, seen.attempts) == (State.COMPLETED, 1)
    assert list(store.poll("w", {"mail": 1}, lease=LEASE)) == []


def test_a_storm_of_faults_loses_and_doubles_nothing(
    store: StrictBackend, line: Line, ministack: Server, tmp_path: Path
) -> None:
    ids = [f"job-{number}" for number in range(12)]
    line.storm(list(FAULTS.values()), 0.1)
    again(lambda: store.push([Message.of("mail", "send", "body", id=job_id) for job_id in ids]))
    ended: list[str] = []
    for _ in range(60):
        try:
            jobs = store.poll("w", {"mail": 3}, lease=LEASE, turn=0)
        except BackendUnavailable:
            continue
        for job in jobs:
            again(lambda job=job: store.settle([Settlement.of(job, Verdict.ACK)]))  # type: ignore[misc]
            ended.append(job.id)
        if len(ended) == len(ids):
            break
    line.calm()
    assert len(ended) == len(set(ended)), "doubled"
    # A claim whose answer was lost is given back by the worker's next heartbeat.
    store.heartbeat("w", [], lease=LEASE, answered=0)
    for job in store.poll("w", {"mail": 20}, lease=LEASE, turn=1):
        assert store.settle([Settlement.of(job, Verdict.ACK)])[0].applied
        ended.append(job.id)
    assert sorted(ended) == sorted(ids)
    assert {store.get(job_id).state for job_id in ids} == {State.COMPLETED}  # type: ignore[union-attr]
