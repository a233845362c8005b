"""The public face: pushing, handles, options, events, the four verbs."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import ferryman
from ferryman import (
    Closed,
    Conflict,
    Event,
    Ferry,
    Handle,
    InvalidMessage,
    Job,
    JobNotFound,
    LeaseLost,
    NotAllowed,
    Queue,
    Retry,
    State,
    StillUnfinished,
    Task,
    TaskError,
    Tasks,
)
from ferryman.message import MAX_BYTES
from ferryman.queue.contract import Backend
from ferryman.queue.traced import Traced
from ferryman.tasks import aio
from ferryman.testing import FakeClock, assert_pushed, drain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def ferry(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Ferry]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url, clock=clock) as ferry:
        yield ferry


def test_a_task_can_still_be_called_as_a_function(ferry: Ferry) -> None:
    @ferry.task()
    def double(n: int) -> int:
        return n * 2

    assert double(4) == 8


def test_using_overrides_options_for_one_push(ferry: Ferry, clock: FakeClock) -> None:
    @ferry.task(queue="mail", retry=Retry(7, base=1))
    def send(to: str) -> None: ...

    send.using(
        priority="high",
        delay=timedelta(seconds=30),
        key="k",
        correlation_id="r1",
        expires=3600,
        meta={"user_id": "42"},
        timeout=5,
    ).push("ada")
    job = assert_pushed(ferry, "send", "ada", queue="mail", priority=10, max_attempts=7)
    assert job.ready_at == clock.now() + 30
    assert job.deadline == clock.now() + 3600
    assert (job.key, job.correlation_id, job.meta) == ("k", "r1", {"user_id": "42"})
    assert (job.timeout, job.backoff) == (5, "1,2.0,600.0,0.1")
    send.push("bob")
    assert_pushed(ferry, "send", "bob", priority=0, key=None)


def test_at_takes_an_aware_datetime(ferry: Ferry) -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    ferry.push("x", at=moment)
    assert assert_pushed(ferry, "x").ready_at == moment.timestamp()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"at": datetime(2030, 1, 1)}, "at"),  # noqa: DTZ001 - naive on purpose
        ({"at": "tomorrow"}, "at"),
        ({"delay": -1}, "delay"),
        ({"delay": float("nan")}, "delay"),
        ({"delay": "5"}, "delay"),
        ({"delay": 5, "at": datetime(2030, 1, 1, tzinfo=UTC)}, "delay"),
        ({"priority": "urgent"}, "priority"),
        ({"priority": 1.5}, "priority"),
        ({"priority": True}, "priority"),
        ({"expires": 0}, "expires"),
        ({"id": ""}, "id"),
        ({"id": "a\nb"}, "id"),
        ({"id": "\ud800"}, "id"),
        ({"id": 7}, "id"),
        ({"queue": " "}, "queue"),
        ({"queue": "q" * 201}, "queue"),
        ({"key": ""}, "key"),
        ({"key": "k", "unique": "sometimes"}, "unique"),
        ({"meta": {"user": 42}}, "meta.user"),
        ({"meta": ["a"]}, "meta"),
        ({"correlation_id": "\x00"}, "correlation_id"),
        ({"timeout": 0}, "timeout"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_options_are_refused_by_name_and_nothing_is_written(
    ferry: Ferry, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidMessage) as refused:
        ferry.push("task", {"a": 1}, **options)
    assert refused.value.field == field
    assert ferry.backend.snapshot().queues == {}


@pytest.mark.parametrize(
    "payload",
    [float("nan"), float("inf"), {"a": {1, 2}}, {1: 2}, b"bytes", "\ud800", "x" * MAX_BYTES],
)
def test_bad_payloads_are_refused_and_nothing_is_written(ferry: Ferry, payload: Any) -> None:
    with pytest.raises(InvalidMessage, match="payload"):
        ferry.push("task", payload)
    assert ferry.backend.snapshot().queues == {}


def test_push_many_is_one_batch(ferry: Ferry) -> None:
    calls: list[Event] = []

    @ferry.task()
    def add(a: int, b: int) -> int:
        return a + b

    assert len(ferry.backend.snapshot().queues) == 0
    ferry.on("backend.call")(calls.append)
    handles = add.push_many([(1, 2), {"a": 3, "b": 4}])
    assert [(call["verb"], call["size"]) for call in calls] == [("push", 2)]
    drain(ferry)
    assert [handle.result(0) for handle in handles] == [3, 7]


def test_the_same_id_gives_the_existing_job_and_another_body_a_conflict(ferry: Ferry) -> None:
    first = ferry.push("t", 1, id="one")
    again = ferry.push("t", 1, id="one")
    assert (first.created, again.created, again.id) == (True, False, "one")
    with pytest.raises(Conflict, match="'one' exists with another body"):
        ferry.push("t", 2, id="one")
    ferry.push("t", 2, id="one", replace=True)
    assert assert_pushed(ferry, "t").payload == 2


def test_labels_can_be_set_for_each_ferry() -> None:
    with Ferry("memory://", priorities={"urgent": 99}) as ferry:
        ferry.push("t", priority="urgent")
        assert assert_pushed(ferry, "t").priority == 99


def test_a_group_of_tasks_joins_a_ferry_later(ferry: Ferry) -> None:
    group = Tasks()

    @group.task()
    def late(n: int) -> int:
        return n

    with pytest.raises(TaskError, match="joined no Ferry"):
        late.push(1)
    ferry.include(group)
    handle = late.push(1)
    drain(ferry)
    assert handle.result(0) == 1
    with pytest.raises(TaskError, match="another Ferry"):
        Ferry("memory://").include(group)


def test_a_decorator_without_parentheses_is_refused_with_what_to_write(ferry: Ferry) -> None:
    def handler() -> None: ...

    for misplaced in (handler, "a-queue"):
        with pytest.raises(TaskError, match=r"write @ferry\.task\(\) with parentheses"):
            ferry.task(misplaced)  # type: ignore[call-overload]


def test_two_handlers_of_one_name_are_refused(ferry: Ferry) -> None:
    def same() -> None: ...

    def other() -> None: ...

    ferry.task(name="same")(same)
    with pytest.raises(TaskError, match="two handlers are named 'same'"):
        ferry.task(name="same")(other)


def test_no_handler_takes_a_name_of_the_engine(ferry: Ferry) -> None:
    with pytest.raises(TaskError, match=r"'ferryman\.sweep': this name is the engine's"):
        ferry.task(name="ferryman.sweep")(lambda: None)


def test_waiting_for_a_job_that_does_not_end_says_so(ferry: Ferry) -> None:
    handle = ferry.push("t")
    with pytest.raises(StillUnfinished, match="still pending"):
        handle.result(0.01)
    assert issubclass(StillUnfinished, TimeoutError)


def test_a_handle_of_a_deleted_job_says_so(ferry: Ferry) -> None:
    handle = ferry.push("t")
    ferry.backend.delete([handle.id])
    with pytest.raises(JobNotFound):
        handle.status()


def test_the_four_verbs_of_a_queue(ferry: Ferry) -> None:
    queue = ferry.queue("enrichment")
    queue.push({"domain": "example.org"})
    queue.push({"domain": "example.com"})
    first, second = queue.poll(batch_size=5)
    queue.ack(first, result={"ok": True})
    queue.nack(second, "no such host", delay=0)
    assert ferry.backend.get(first.id).state is State.COMPLETED  # type: ignore[union-attr]
    (again,) = queue.poll()
    assert (again.id, again.attempts) == (second.id, 2)
    assert ferry.backend.get(second.id).errors[0].text == "no such host"  # type: ignore[union-attr]


def test_an_ack_of_a_lost_lease_raises(ferry: Ferry, clock: FakeClock) -> None:
    queue = ferry.queue("q")
    queue.push()
    (job,) = queue.poll()
    clock.advance(61)
    ferry.backend.reap()
    with pytest.raises(LeaseLost):
        queue.ack(job)


def test_closing_gives_back_what_is_held(ferry: Ferry) -> None:
    queue = ferry.queue("q")
    handle = queue.push()
    queue.poll()
    queue.close()
    job = handle.job()
    assert (job.state, job.attempts) == (State.PENDING, 0)


def test_leases_of_polled_jobs_are_kept_alive(tmp_path: Path) -> None:
    from ferryman.testing import wait_until

    with Ferry(f"sqlite:///{tmp_path}/jobs.db", lease=0.3) as ferry:
        queue = ferry.queue("q")
        handle = queue.push()
        (job,) = queue.poll()
        first = handle.job().expires_at or 0
        wait_until(lambda: (handle.job().expires_at or 0) > first + 0.3, what="heartbeats")
        queue.ack(job)


def test_a_job_outside_its_handler_has_no_context(ferry: Ferry) -> None:
    job = ferry.push("t").job()
    with pytest.raises(NotAllowed, match="not running here"):
        job.progress(1)


def test_events_reach_their_subscribers(ferry: Ferry) -> None:
    seen: list[str] = []
    ferry.on("job.pushed")(lambda event: seen.append(event["id"]))
    handle = ferry.push("t")
    assert seen == [handle.id]


def test_async_callers_use_the_a_verbs(ferry: Ferry) -> None:
    @ferry.task()
    def add(a: int, b: int) -> int:
        return a + b

    async def main() -> Any:
        handle = await add.apush(1, 2)
        many = await add.apush_many([(3, 4)])
        by_name = await ferry.apush("add", {"a": 5, "b": 6})
        await asyncio.to_thread(drain, ferry)
        queue = ferry.queue("own")
        await queue.apush({"n": 1})
        (job,) = await queue.apoll()
        await queue.aack(job)
        return [await h.aresult(1) for h in (handle, *many, by_name)], await handle.astatus()

    assert asyncio.run(main()) == ([3, 7, 11], State.COMPLETED)


@pytest.mark.parametrize(
    ("facade", "real"),
    [
        (aio.AsyncTask, Task),
        (aio.AsyncHandle, Handle),
        (aio.AsyncFerry, Ferry),
        (aio.AsyncQueue, Queue),
    ],
)
def test_every_a_verb_has_the_signature_of_its_twin(facade: type, real: type) -> None:
    verbs = [name for name in vars(facade) if inspect.iscoroutinefunction(vars(facade)[name])]
    assert verbs
    for verb in verbs:
        twin = getattr(real, verb.removeprefix("a"))
        ours = list(inspect.signature(getattr(facade, verb)).parameters.values())
        theirs = list(inspect.signature(twin).parameters.values())
        assert [(p.name, p.kind, p.default) for p in ours] == [
            (p.name, p.kind, p.default) for p in theirs
        ], verb


def test_the_traced_wrapper_has_every_verb_with_its_signature() -> None:
    verbs = [name for name in vars(Backend) if not name.startswith("_")]
    for verb in verbs:
        theirs = vars(Backend)[verb]
        if isinstance(theirs, property):
            assert isinstance(vars(Traced)[verb], property)
            continue
        assert inspect.signature(vars(Traced)[verb]) == inspect.signature(theirs), verb


def test_public_names_are_what_the_package_says() -> None:
    assert sorted(ferryman.__all__) == ferryman.__all__
    for name in ferryman.__all__:
        assert getattr(ferryman, name)


def test_the_url_comes_from_the_environment_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FERRYMAN_URL", "memory://")
    assert Ferry().url == "memory://"
    monkeypatch.delenv("FERRYMAN_URL")
    assert Ferry().url == "sqlite:///ferryman.db"


def test_a_password_never_shows() -> None:
    assert "hunter2" not in repr(Ferry("postgresql://me:hunter2@db/x"))


def test_job_is_bound_only_while_it_runs(ferry: Ferry) -> None:
    seen: list[Job] = []

    @ferry.task()
    def task(job: Job) -> None:
        job.progress(5)
        assert ferryman.current_job() is job
        seen.append(job)

    task.push()
    assert drain(ferry) == {State.COMPLETED: 1}
    assert ferryman.current_job() is None


@pytest.mark.parametrize("use", [lambda f: f.push("noop"), lambda f: f.queue("mail").poll()])
def test_a_closed_ferry_takes_nothing_that_would_be_lost(use: Callable[[Ferry], object]) -> None:
    ferry = Ferry("memory://")

    @ferry.task()
    def noop() -> None: ...

    noop.push()
    ferry.close()
    ferry.close()
    with pytest.raises(Closed, match="make another"):
        use(ferry)


def test_a_ferry_switches_to_another_store(tmp_path: Path) -> None:
    with Ferry("memory://") as ferry:

        @ferry.task()
        def noop() -> None: ...

        noop.push()
        ferry.switch(f"sqlite:///{tmp_path}/jobs.db")
        assert ferry.backend.snapshot().count(State.PENDING) == 0
        ferry.push("noop", id="a")
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as other:
        assert other.backend.get("a") is not None
