"""One object or file that nobody can read: it is named, and every other job goes its way."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Location
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.diagnosis import Severity
from ferryman.testing.clock import FakeClock
from tests.s3.nodes import LEASE, ack, node, poll, push, relaxed_node
from tests.s3.simulated import SimulatedCalls
from tests.servers.kinds import BUCKET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.backends.s3.relaxed import RelaxedBackend
    from ferryman.backends.s3.strict import StrictBackend

    Join = Callable[..., StrictBackend | RelaxedBackend]

PREFIX: Final = "team"
HOME: Final = Home(Location(BUCKET, PREFIX))
WHOLE: Final = {"id": "bad", "queue": "mail", "task": "send", "nonce": "x", "seq": 5}
TORN: Final = {
    "torn": b'{"task": "se',
    "empty": b"",
    "no text": b"\xff\xfe",
    "no object": b"[]",
    "no task": b"{}",
}
ODD: Final[dict[str, dict[str, Any]]] = {
    "task": {"task": 7},
    "id": {"id": 5},
    "another job's id": {"id": "good"},
    "meta": {"meta": "x"},
    "priority": {"priority": "high"},
    "a path": {"priority": "../../../evil"},
    "max_attempts": {"max_attempts": "x"},
    "backoff": {"backoff": 5},
    "seq": {"seq": "x"},
    "created_at": {"created_at": "soon"},
    "ready_at": {"ready_at": 1e18},
    "generation": {"generation": "x", "fence": 1},
}
ODD_ENDS: Final[dict[str, dict[str, Any]]] = ODD | {
    "finished_at": {"finished_at": 1e18},
    "worker": {"worker": 5},
    "errors": {"errors": "ab"},
    "children": {"children": [5]},
}


def text(**facts: Any) -> bytes:
    return json.dumps(WHOLE | facts).encode()


TASKS: Final = TORN | {name: text(**facts) for name, facts in ODD.items()}
RECORDS: Final = TORN | {name: text(state="failed", **facts) for name, facts in ODD_ENDS.items()}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(time.time())


@pytest.fixture
def raw() -> Bucket:
    """The bucket of the nodes, by hand."""
    return Bucket(BUCKET, calls=SimulatedCalls())


@pytest.fixture(params=["strict", "relaxed"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def join(kind: str, raw: Bucket, clock: FakeClock, tmp_path: Path) -> Iterator[Join]:
    """Opens a node by its name: a folder of its own, the same bucket, one clock for all."""
    opened: list[StrictBackend | RelaxedBackend] = []
    calls = raw._calls

    def join_as(name: str) -> StrictBackend | RelaxedBackend:
        open_node = node if kind == "strict" else relaxed_node
        bucket = Bucket(BUCKET, calls=calls)
        opened.append(open_node("http://simulated", PREFIX, tmp_path / name, clock, bucket))
        return opened[-1]

    yield join_as
    for store in opened:
        store.close()


def check_named(store: StrictBackend | RelaxedBackend, key: str) -> None:
    """A pass, status and doctor name the object, and what to do."""
    [told] = store.sync()["unreadable"]  # type: ignore[misc]
    assert told.startswith(f"{key}: ")
    [trouble] = store.troubles()
    assert (trouble.queue, trouble.path) == ("mail", f"s3://{BUCKET}/{key}")
    assert "correct the object, or delete it" in trouble.reason
    [found] = [each for each in store.diagnose() if each.check == "objects"]
    assert found.severity is Severity.WARNING
    assert key in found.what


def check_others_run(store: StrictBackend | RelaxedBackend, clock: FakeClock) -> None:
    """What hides nothing: another job is claimed, reaped, claimed again and ended."""
    assert [job.id for job in poll(store)] == ["good"]
    clock.advance(LEASE + 1)
    assert [reaped.id for reaped in store.reap()] == ["good"]
    clock.advance(10)
    [job] = poll(store)
    assert [each.id for each in store.list(Filter()).jobs] == ["good"]
    assert ack(store, job)
    found = store.get("good")
    assert found is not None
    assert found.state is State.COMPLETED
    assert store.snapshot().queues["mail"].states[State.COMPLETED] == 1


@pytest.mark.parametrize("content", TASKS.values(), ids=TASKS)
def test_a_task_that_cannot_be_read_is_named_and_hides_no_other_job(
    join: Join, raw: Bucket, clock: FakeClock, content: bytes
) -> None:
    one, other = join("one"), join("other")
    push(one, "good")
    one.sync()
    key = HOME.task("mail", "bad")
    raw.put(key, content)
    check_named(other, key)
    check_others_run(other, clock)
    raw.delete(key)
    assert other.sync()["unreadable"] == []
    assert list(other.troubles()) == []


@pytest.mark.parametrize("content", RECORDS.values(), ids=RECORDS)
def test_a_record_that_cannot_be_read_is_named_and_hides_no_other_job(
    join: Join, raw: Bucket, clock: FakeClock, content: bytes
) -> None:
    one, other = join("one"), join("other")
    push(one, "good")
    one.sync()
    key = HOME.record("mail", State.FAILED, "bad")
    raw.put(key, content)
    check_named(other, key)
    check_others_run(other, clock)
    # A look at what waits says nothing about records.
    assert [trouble.path for trouble in other.troubles()] == [f"s3://{BUCKET}/{key}"]
    raw.delete(key)
    assert other.sync()["unreadable"] == []
    assert list(other.troubles()) == []


@pytest.mark.parametrize("name", ["my job", "..", "x" * 300, "%41", "a%2fb", "x" * 300 + "~" * 33])
def test_a_name_that_no_job_has_is_named_and_leads_nowhere(
    join: Join, raw: Bucket, clock: FakeClock, tmp_path: Path, name: str
) -> None:
    store = join("one")
    push(store, "good")
    key = f"{PREFIX}/mail/pending/{name}/task.json"
    raw.put(key, b'{"task": "send"}')
    check_named(store, key)
    check_others_run(store, clock)
    assert list(tmp_path.iterdir()) == [tmp_path / "one"]
    assert {each.name for each in (tmp_path / "one").iterdir() if each.name[0] != "."} == {"mail"}


def test_a_task_that_was_corrected_runs(join: Join, raw: Bucket) -> None:
    store = join("one")
    push(store, "good")
    raw.put(HOME.task("mail", "bad"), text(priority="high"))
    assert len(store.sync()["unreadable"]) == 1  # type: ignore[arg-type]
    raw.put(HOME.task("mail", "bad"), text(priority=3))
    assert store.sync()["unreadable"] == []
    assert [job.id for job in poll(store)] == ["bad", "good"]


@pytest.mark.parametrize("content", TASKS.values(), ids=TASKS)
def test_a_task_in_the_root_that_cannot_be_read_hides_no_other_job(
    join: Join, tmp_path: Path, content: bytes
) -> None:
    store = join("one")
    push(store, "good")
    task = tmp_path / "one" / "mail" / "pending" / "bad" / "task.json"
    task.parent.mkdir()
    task.write_bytes(content)
    os.utime(task, (0, 0))
    store.sync()
    ran = {job.id for job in poll(store)}
    if b'"id": "good"' in content:
        # The folder says who it is: people copy folders.
        assert ran == {"good", "bad"}
        return
    assert ran == {"good"}
    [trouble] = store.troubles()
    assert "quarantine/bad" in trouble.path


@pytest.mark.parametrize("content", TASKS.values(), ids=TASKS)
def test_a_copy_in_the_root_that_cannot_be_read_is_fetched_again(
    join: Join, tmp_path: Path, content: bytes
) -> None:
    store = join("one")
    push(store, "job")
    store.sync()
    folder = tmp_path / "one" / "mail" / "pending" / "job"
    folder.joinpath("task.json").write_bytes(content.replace(b'"bad"', b'"job"'))
    folder.joinpath("history.json").unlink(missing_ok=True)
    store.sync()
    assert json.loads(folder.joinpath("task.json").read_bytes())["payload"] == "body"
    assert [job.id for job in poll(store)] == ["job"]


@pytest.mark.parametrize("kind", ["strict"])
@pytest.mark.parametrize("s3", ["x", [], {"task": 5}, {"change": "x"}, {"change": 1, "lease": 5}])
def test_etags_in_the_root_that_were_changed_are_read_again(
    join: Join, tmp_path: Path, s3: object
) -> None:
    store = join("one")
    push(store, "job")
    path = tmp_path / "one" / "mail" / "pending" / "job" / "history.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"s3": s3}))
    store.sync()
    [job] = poll(store)
    lease = path.with_name("lease.json")
    lease.write_text(json.dumps(json.loads(lease.read_text()) | {"s3": s3}))
    store.sync()
    assert ack(store, job)
