"""Two nodes on one bucket, each with a local tree of its own."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.stamp import TOMBSTONE
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.job import State
from ferryman.queue.diagnosis import Severity
from tests.s3.nodes import Killed, ack, mortal, node, poll, push
from tests.s3.simulated import SimulatedCalls
from tests.servers.faults import cut_before
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.home import Home
    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.testing.clock import FakeClock
    from tests.servers.shared import Server


def test_a_completion_travels_at_once(join: Callable[..., StrictBackend]) -> None:
    one, other = join("one"), join("other")
    push(one)
    assert ack(one, poll(one)[0])
    seen = other.get("job")
    assert seen is not None
    assert seen.state is State.COMPLETED
    assert push(other) == "existing"


def test_a_finished_job_is_not_claimed_by_a_node_that_has_not_heard_of_it(
    join: Callable[..., StrictBackend],
) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    assert ack(one, poll(one)[0])
    assert poll(other) == []
    assert other.snapshot().count(State.COMPLETED) == 1


def test_a_node_that_was_away_for_long_syncs_before_it_claims(
    join: Callable[..., StrictBackend], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = join("one"), join("other")
    push(one)
    other.sync()
    assert ack(one, poll(one)[0])
    clock.advance(TOMBSTONE + 1)
    one.sync()
    # Nothing in pending/ tells of the job any more; only the other node's mirror does.
    monkeypatch.setattr("ferryman.backends.s3.sync.FRESH", 0.0)
    assert poll(other) == []
    seen = other.get("job")
    assert seen is not None
    assert seen.state is State.COMPLETED


@pytest.mark.parametrize("request_number", [1, 2, 3])
def test_a_process_that_dies_in_a_poll_leaves_no_wrong_picture_on_its_machine(
    join: Callable[..., StrictBackend], ministack: Server, request_number: int
) -> None:
    bucket = mortal(ministack.address)
    store = join("one", bucket=bucket)
    for job_id in ("job", "second"):
        push(store, job_id)
    bucket.doom(request_number, after=True)
    with pytest.raises(Killed):
        poll(store)
    heir = join("one")
    shown = heir.snapshot()
    jobs = [heir.get(job_id) for job_id in ("job", "second")]
    claimed = [job for job in jobs if job is not None and job.state is State.PROCESSING]
    assert len(claimed) >= request_number - 1  # the first request asks whether the queue is paused
    assert shown.count(State.PROCESSING) == len(claimed)
    assert shown.count(State.PENDING) == 2 - len(claimed)


@pytest.mark.parametrize("request_number", [1, 2])
def test_a_process_that_dies_in_an_ack_leaves_no_wrong_picture_on_its_machine(
    join: Callable[..., StrictBackend], ministack: Server, request_number: int
) -> None:
    bucket = mortal(ministack.address)
    store = join("one", bucket=bucket)
    push(store)
    [job] = poll(store)
    bucket.doom(request_number, after=True)
    with pytest.raises(Killed):
        ack(store, job)
    again = join("one")
    assert [each.state for each in again.list(Filter()).jobs] == [State.COMPLETED]
    assert again.snapshot().count(State.PROCESSING) == 0


def test_without_s3_every_verb_says_so(
    join: Callable[..., StrictBackend], ministack: Server
) -> None:
    with Line(ministack.address) as line:
        store = join("one", line.address)
        push(store)
        line.fault(cut_before, times=FOREVER)
        for verb in (
            lambda: poll(store),
            lambda: store.get("job"),
            lambda: store.list(Filter()),
            store.snapshot,
            store.reap,
            lambda: store.read_cells(""),
            store.sync,
        ):
            with pytest.raises(BackendUnavailable):
                verb()
        line.calm()
        assert [job.id for job in poll(store)] == ["job"]


def test_an_empty_answer_was_confirmed_by_the_bucket(
    join: Callable[..., StrictBackend], ministack: Server
) -> None:
    with Line(ministack.address) as line:
        store = join("one", line.address)
        assert poll(store) == []
        line.fault(cut_before, times=FOREVER)
        with pytest.raises(BackendUnavailable):
            poll(store)


def test_strict_refuses_an_endpoint_that_ignores_conditions(
    rclone: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    with pytest.raises(BackendRejected, match="consistency=relaxed"):
        node(rclone.address, prefix, tmp_path / "one")


def test_a_newer_format_is_refused(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home
) -> None:
    raw.put(home.format, json.dumps({"ferryman": "queues", "format": 99}).encode())
    with pytest.raises(BackendRejected, match="upgrade ferryman"):
        join("one")


def test_a_root_belongs_to_one_store(
    join: Callable[..., StrictBackend], ministack: Server, tmp_path: Path
) -> None:
    join("one")
    with pytest.raises(BackendRejected, match="choose another root"):
        node(ministack.address, new_id(), tmp_path / "one")


def test_a_campaign_has_its_own_keys(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str, raw: Bucket
) -> None:
    with closing(node(ministack.address, prefix, tmp_path / "one", campaign="roofers/24")) as store:
        push(store)
    keys = {entry.key for entry in raw.list(f"{prefix}/")}
    assert f"{prefix}/campaigns/roofers%2F24/queues/mail/pending/job/task.json" in keys
    assert all(key.startswith(f"{prefix}/campaigns/roofers%2F24/queues/") for key in keys)


def test_a_job_dropped_into_the_local_tree_enters_the_bucket(
    join: Callable[..., StrictBackend], tmp_path: Path, raw: Bucket, home: Home
) -> None:
    one, other = join("one"), join("other")
    push(one)
    dropped = tmp_path / "one" / "mail" / "pending" / "dropped"
    dropped.mkdir()
    (dropped / "task.json").write_text('{"task": "send", "payload": 7}')
    one.sync()
    assert raw.get(home.task("mail", "dropped")) is not None
    assert sorted(job.id for job in poll(other)) == ["dropped", "job"]


def test_a_paused_queue_is_paused_for_every_node(
    join: Callable[..., StrictBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = join("one"), join("other")
    push(one)
    one.pause_queue("mail")
    assert poll(other) == []
    one.resume_queue("mail")
    monkeypatch.setattr("ferryman.backends.s3.pausing.FRESH", 0.0)
    assert len(poll(other)) == 1


def test_a_queue_that_was_paused_before_its_first_job_is_known_to_every_node(
    join: Callable[..., StrictBackend],
) -> None:
    one, other = join("one"), join("other")
    one.pause_queue("mail")
    other.sync()
    assert other.snapshot().queues["mail"].paused
    push(one)
    third = join("third")
    third.sync()
    assert [job.id for job in third.list(Filter()).jobs] == ["job"]


def test_a_job_dropped_into_a_queue_that_the_bucket_does_not_know_is_known_to_every_node(
    join: Callable[..., StrictBackend], tmp_path: Path
) -> None:
    one, other = join("one"), join("other")
    push(one)
    dropped = tmp_path / "one" / "by-hand" / "pending" / "dropped"
    dropped.mkdir(parents=True)
    (dropped / "task.json").write_text('{"task": "send", "payload": 7}')
    one.sync()
    other.sync()
    assert sorted(job.id for job in other.list(Filter()).jobs) == ["dropped", "job"]


def test_an_answer_that_is_older_than_a_pause_does_not_lift_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    calls = SlowCalls()
    bucket = Bucket("bucket", calls=calls)
    with (
        closing(node("http://simulated", "late", tmp_path / "root", clock, bucket)) as worker,
        closing(node("http://simulated", "late", tmp_path / "root", clock, bucket)) as operator,
    ):
        push(worker)
        calls.then = lambda: operator.pause_queue("mail")
        assert poll(worker) == []
        assert worker.snapshot().queues["mail"].paused


class SlowCalls(SimulatedCalls):
    """Something happens between the answer to a question about a pause and its arrival."""

    then: Callable[[], None] | None = None

    def get(self, key: str) -> Object:
        try:
            return super().get(key)
        finally:
            if self.then is not None and key.endswith("paused.json"):
                then, self.then = self.then, None
                then()


def test_reading_a_new_prefix_writes_nothing(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home, prefix: str
) -> None:
    store = join("one")
    assert store.snapshot().queues == {}
    assert store.list(Filter()).jobs == ()
    assert store.get("job") is None
    assert list(store.read_cells("")) == []
    assert {finding.severity for finding in store.diagnose()} == {Severity.OK}
    assert list(raw.list(f"{prefix}/")) == []
    assert poll(store) == []
    assert raw.get(home.format) is not None


def test_a_mark_that_is_gone_is_an_outage_and_not_an_empty_queue(
    join: Callable[..., StrictBackend], raw: Bucket, home: Home
) -> None:
    store = join("one")
    push(store)
    raw.delete(home.format)
    with pytest.raises(BackendUnavailable, match="was the bucket emptied"):
        store.snapshot()


def test_cells_that_are_over_leave_the_bucket_after_a_day(
    join: Callable[..., StrictBackend], clock: FakeClock, raw: Bucket, home: Home
) -> None:
    store = join("one")
    for key, ttl in (("short", 10.0), ("long", 10 * 86_400.0), ("lasting", None), ("dead", None)):
        store.write_cell(key, "value", expect=0, ttl=ttl)
    store.write_cell("dead", None, expect=1)
    clock.advance(3_600)
    store.sync()
    assert len(list(raw.list(home.cells))) == 4
    clock.advance(2 * 86_400)
    assert store.sync()["removed"] == 2
    assert {entry.key for entry in raw.list(home.cells)} == {
        home.cell("long"),
        home.cell("lasting"),
    }
    assert [cell.key for cell in store.read_cells("")] == ["lasting", "long"]


def test_what_was_set_aside_is_shown(join: Callable[..., StrictBackend], tmp_path: Path) -> None:
    store = join("one")
    push(store)
    torn = tmp_path / "one" / "mail" / "pending" / "torn"
    torn.mkdir()
    (torn / "task.json").write_text("{")
    os.utime(torn / "task.json", (0, 0))
    store.sync()
    [trouble] = store.troubles()
    assert (trouble.queue, "torn" in trouble.path) == ("mail", True)
    [found] = [each for each in store.diagnose() if each.check == "quarantine"]
    assert found.severity is Severity.WARNING
    assert "torn" in found.what
