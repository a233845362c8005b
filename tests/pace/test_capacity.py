from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import (
    BackendUnavailable,
    Ferry,
    InvalidMessage,
    Job,
    Message,
    QueueFull,
    TaskError,
    Unsupported,
)
from ferryman.testing import FakeClock, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.events import Event


@pytest.fixture
def ferry(url: str, clock: FakeClock) -> Iterator[Ferry]:
    with Ferry(url, clock=clock) as ferry:
        yield ferry


@pytest.fixture
def warnings(ferry: Ferry) -> list[Event]:
    heard: list[Event] = []
    ferry.events.subscribe("queue.deep", heard.append)
    return heard


def test_a_full_queue_refuses_a_push_and_says_when_to_try_again(ferry: Ferry) -> None:
    ferry.limit("mail", capacity=2)
    ferry.push("mail", 1)
    ferry.push("mail", 2, id="two")
    with pytest.raises(QueueFull, match="'mail' is full") as refused:
        ferry.push("mail", 3, id="three")
    assert (refused.value.queue, refused.value.capacity) == ("mail", 2)
    assert refused.value.ids == ("three",)
    assert not ferry.push("mail", 2, id="two").created
    ferry.push("post")


def test_retry_after_grows_while_a_queue_stays_full_and_starts_anew_afterwards() -> None:
    with Ferry("memory://") as ferry:
        ferry.limit("mail", capacity=1)
        ferry.push("mail")
        waits = [refusal(ferry).retry_after for _ in range(8)]
        assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
        ferry.backend.purge("mail")
        ferry.push("mail")
        assert refusal(ferry).retry_after == 1


def refusal(ferry: Ferry) -> QueueFull:
    with pytest.raises(QueueFull) as refused:
        ferry.push("mail")
    return refused.value


def test_of_many_none_is_written_where_not_all_fit(ferry: Ferry) -> None:
    @ferry.task(queue="mail")
    def send(n: int) -> None: ...

    ferry.limit("mail", capacity=3)
    with pytest.raises(QueueFull) as refused:
        send.push_many(range(4))
    assert len(refused.value.ids) == 4
    assert ferry.backend.depth("mail", 10) == 0
    send.push_many(range(3))


def test_messages_of_one_key_need_room_for_one(ferry: Ferry) -> None:
    ferry.limit("mail", capacity=1)
    messages = [Message.of("mail", "send", number, key="k") for number in range(2)]
    assert [handle.created for handle in ferry.carry(messages)] == [True, False]


def test_a_deep_queue_is_warned_of_once_and_again_after_it_eased(
    ferry: Ferry, clock: FakeClock, warnings: list[Event]
) -> None:
    ferry.limit("mail", warn_depth=10)

    def push(count: int) -> None:
        for _ in range(count):
            ferry.push("mail")
            clock.advance(1)

    push(9)
    assert warnings == []
    push(3)
    assert [(event["queue"], event["depth"]) for event in warnings] == [("mail", 10)]
    claim(ferry, 3)
    push(2)
    assert len(warnings) == 1
    claim(ferry, 4)
    push(1)
    assert len(warnings) == 1
    push(5)
    assert len(warnings) == 2


def claim(ferry: Ferry, count: int) -> None:
    assert len(ferry.backend.poll("w", {"mail": count}, lease=600)) == count


def test_two_processes_warn_once_of_one_queue(
    url: str, ferry: Ferry, clock: FakeClock, warnings: list[Event]
) -> None:
    if not ferry.backend.capabilities.shared:
        pytest.skip("memory has no capability 'shared'")
    with Ferry(url, clock=clock) as other:
        for one in (ferry, other):
            one.limit("mail", warn_depth=2)
            one.events.subscribe("queue.deep", warnings.append)
        for one in (ferry, other, ferry, other):
            one.push("mail")
            clock.advance(1)
    assert len({id(event) for event in warnings}) == 1


def test_a_warning_that_cannot_be_made_does_not_undo_a_push(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Ferry("memory://") as ferry:
        ferry.limit("mail", warn_depth=1)

        def away(queue: str, most: int) -> int:
            raise BackendUnavailable("away")

        monkeypatch.setattr(ferry.backend, "depth", away)
        assert ferry.push("mail").created


@pytest.mark.parametrize("numbers", [{"capacity": 0}, {"capacity": 1.5}, {"warn_depth": True}])
def test_nonsense_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessage):
        Ferry("memory://").limit("mail", **numbers)


def test_a_store_that_cannot_count_refuses_before_anything_is_sent(aws_settings: None) -> None:
    with Ferry("sqs://eu-west-1/p?endpoint=http://127.0.0.1:1") as ferry:
        ferry.limit("mail", warn_depth=5)
        with pytest.raises(Unsupported, match="ledger"):
            ferry.push("mail")


def test_a_task_is_not_claimed_while_a_queue_that_it_feeds_is_full() -> None:
    with Ferry("memory://") as ferry:
        ran: list[int] = []
        others = threading.Event()

        @ferry.task(queue="in", feeds=["out"])
        def crack(n: int, job: Job) -> None:
            ran.append(n)

        @ferry.task(queue="in")
        def sing() -> None:
            others.set()

        ferry.limit("out", capacity=10)
        for n in range(10):
            ferry.push("store", n, queue="out")
        crack.push(1)
        sing.push()
        worker = ferry.worker({"in": 1})
        worker.start()
        assert others.wait(10)
        assert ran == []
        ferry.backend.poll("w", {"out": 1}, lease=600)
        sing.push().result(10)
        assert ran == [], "at 90 % it is still closed"
        ferry.backend.poll("w", {"out": 1}, lease=600)
        wait_until(lambda: ran == [1], what="the gate to open")
        worker.join()


def test_a_stage_rests_while_the_queue_of_the_next_one_is_full() -> None:
    with Ferry("memory://") as ferry:
        ran: list[int] = []

        @ferry.task(queue="in")
        def crack(n: int) -> int:
            ran.append(n)
            return n

        @ferry.task(queue="out")
        def store(n: int) -> None: ...

        @ferry.task(queue="in")
        def sing() -> None: ...

        nuts = ferry.pipeline("nuts", crack >> store)
        ferry.limit("out", capacity=1)
        store.push(0)
        nuts.push(1)
        worker = ferry.worker({"in": 1})
        worker.start()
        sing.push().result(10)
        assert ran == []
        ferry.backend.poll("w", {"out": 1}, lease=600)
        wait_until(lambda: ran == [1], what="the stage to go on")
        worker.join()


def test_feeds_is_a_list_of_queues() -> None:
    with pytest.raises(TaskError, match="list"):
        Ferry("memory://").task(feeds="out")
