"""wait: asleep while there is nothing, awake as soon as there may be something."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    ack,
    claimed,
    claims,
    give_back,
    in_state,
    nack,
    pushed,
    settle,
)
from ferryman.testing.conformance.handoff import children_of
from ferryman.testing.conformance.store import Store
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ferryman.queue.contract import Backend

# Long enough that a waiter that sleeps through it fails the case, never waited out by a good one.
LONG = 20.0
SHORT = 0.05
PROMPT = 2.0


class Wait(Store):
    def test_a_due_job_is_reported_at_once(self, real: Backend) -> None:
        pushed(real)
        before = time.monotonic()
        assert real.wait(["mail"], LONG) is True
        assert time.monotonic() - before < PROMPT

    def test_an_empty_queue_is_waited_for_until_the_timeout(self, real: Backend) -> None:
        before = time.monotonic()
        assert real.wait(["mail"], 0.2) is False
        assert 0.19 <= time.monotonic() - before < PROMPT

    def test_a_timeout_of_zero_only_looks(self, real: Backend) -> None:
        assert real.wait(["mail"], 0) is False
        pushed(real)
        assert real.wait(["mail"], 0) is True

    def test_a_push_from_another_thread_wakes_the_waiter_within_50_ms(self, real: Backend) -> None:
        delays: list[float] = []
        # Until it was so nine times: a busy machine is slow for a while.
        while len(delays) < 90 and not (delays[8:] and statistics.median(delays[-9:]) < 0.05):
            delays.append(seconds_to_wake(real, lambda: pushed(real)))
            # What woke the waiter may still hold the job in its hand.
            wait_until(lambda: claims(real), what="the claim")
        assert statistics.median(delays[-9:]) < 0.05

    def test_a_batch_that_touches_one_of_several_queues_wakes_the_waiter(
        self, real: Backend
    ) -> None:
        assert seconds_to_wake(real, lambda: pushed(real, queue="post"), ["mail", "post"]) < PROMPT

    def test_a_job_of_another_queue_wakes_nobody(self, real: Backend) -> None:
        pushed(real, queue="post")
        assert real.wait(["mail"], SHORT) is False

    def test_a_job_in_a_paused_queue_wakes_nobody(self, real: Backend) -> None:
        real.pause_queue("mail")
        pushed(real)
        assert real.wait(["mail"], SHORT) is False

    def test_one_paused_queue_does_not_hide_another(self, real: Backend) -> None:
        real.pause_queue("mail")
        pushed(real)
        pushed(real, queue="post")
        assert real.wait(["mail", "post"], LONG) is True

    def test_resuming_a_queue_wakes_the_waiter(self, real: Backend) -> None:
        real.pause_queue("mail")
        pushed(real)
        assert seconds_to_wake(real, lambda: real.resume_queue("mail")) < PROMPT

    @pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING])
    def test_jobs_that_are_not_pending_wake_nobody(self, real: Backend, state: State) -> None:
        in_state(real, state)
        assert real.wait(["mail"], SHORT) is False

    def test_a_scheduled_job_wakes_nobody_before_its_time(self, real: Backend) -> None:
        pushed(real, delay=60)
        assert real.wait(["mail"], SHORT) is False

    def test_a_scheduled_job_wakes_the_waiter_when_it_is_due(self, real: Backend) -> None:
        pushed(real, delay=0.15)
        before = time.monotonic()
        assert real.wait(["mail"], LONG) is True
        assert time.monotonic() - before < PROMPT
        assert len(claims(real)) == 1

    def test_a_sooner_job_wakes_a_waiter_that_expects_a_later_one(self, real: Backend) -> None:
        pushed(real, "later", delay=60)
        assert seconds_to_wake(real, lambda: pushed(real, "sooner", delay=0.1)) < PROMPT
        assert [job.payload for job in claims(real)] == ["sooner"]

    def test_a_job_given_back_wakes_the_waiter(self, real: Backend) -> None:
        job = claimed(real)
        assert seconds_to_wake(real, lambda: settle(real, give_back(job))) < PROMPT

    def test_a_nacked_job_wakes_the_waiter_when_its_backoff_is_over(self, real: Backend) -> None:
        job = claimed(real)
        assert seconds_to_wake(real, lambda: settle(real, nack(job, delay=0.1))) < PROMPT
        assert len(claims(real)) == 1

    def test_a_resumed_job_wakes_the_waiter(self, real: Backend) -> None:
        job_id = in_state(real, State.PAUSED)
        assert seconds_to_wake(real, lambda: real.resume([job_id])) < PROMPT

    def test_a_retried_job_wakes_the_waiter(self, real: Backend) -> None:
        job_id = in_state(real, State.FAILED)
        assert seconds_to_wake(real, lambda: real.retry([job_id])) < PROMPT

    def test_children_wake_the_waiter_of_their_queue(self, real: Backend) -> None:
        parent = claimed(real)
        ending = ack(parent, children=children_of(parent, 1))
        assert seconds_to_wake(real, lambda: settle(real, ending), ["pages"]) < PROMPT

    def test_several_waiters_are_all_woken(self, real: Backend) -> None:
        with ThreadPoolExecutor(3) as pool:
            waiters = [pool.submit(real.wait, ["mail"], LONG) for _ in range(3)]
            pushed(real)
            assert [waiter.result(2) for waiter in waiters] == [True] * 3


def seconds_to_wake(
    store: Backend, act: Callable[[], object], queues: Collection[str] = ("mail",)
) -> float:
    """How long after the act a waiter that was asleep before it woke up."""
    asleep = Event()

    def sleep() -> float:
        asleep.set()
        assert store.wait(queues, LONG) is True
        return time.monotonic()

    assert store.wait(queues, 0) is False
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(sleep)
        asleep.wait(LONG)
        act()
        acted = time.monotonic()
        return waiter.result(LONG) - acted
