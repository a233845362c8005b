"""push: keys, and what each policy of `unique` forbids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman.job import State
from ferryman.testing.conformance.given import (
    a_message,
    claim,
    claims,
    in_state,
    pushed,
    state_of,
    the_job,
    tried_and_given_back,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.message import Unique
    from ferryman.queue.answers import Pushed
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

POLICIES: tuple[Unique, ...] = ("waiting", "unfinished", 60.0)


class Keys(Store):
    @pytest.mark.parametrize("unique", POLICIES)
    @pytest.mark.parametrize("state", [State.PENDING, State.PAUSED])
    def test_a_waiting_job_with_the_key_makes_a_message_existing(
        self, backend: Backend, state: State, unique: Unique
    ) -> None:
        first = in_state(backend, state, key="ana")
        answer = again(backend, unique)
        assert (answer.id, answer.status) == (first, "existing")

    @pytest.mark.parametrize("unique", POLICIES)
    def test_a_scheduled_job_with_the_key_makes_a_message_existing(
        self, backend: Backend, unique: Unique
    ) -> None:
        first = pushed(backend, key="ana", delay=3_600)
        assert again(backend, unique).id == first

    def test_unfinished_forbids_a_second_job_while_one_runs(self, backend: Backend) -> None:
        first = in_state(backend, State.PROCESSING, key="ana")
        answer = again(backend, "unfinished")
        assert (answer.id, answer.status) == (first, "existing")

    def test_unfinished_is_the_default(self, backend: Backend) -> None:
        first = in_state(backend, State.PROCESSING, key="ana")
        [answer] = backend.push([a_message("other", key="ana")])
        assert (answer.id, answer.status) == (first, "existing")

    def test_waiting_allows_a_second_job_while_one_runs(self, backend: Backend) -> None:
        in_state(backend, State.PROCESSING, key="ana")
        assert again(backend, "waiting").created
        assert again(backend, "waiting").status == "existing"

    @pytest.mark.parametrize("unique", ["waiting", "unfinished", "replace"])
    @pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
    def test_a_finished_job_frees_its_key(
        self, backend: Backend, state: State, unique: Unique
    ) -> None:
        in_state(backend, state, key="ana")
        assert again(backend, unique).created

    @pytest.mark.parametrize("state", list(State))
    def test_seconds_forbid_any_job_pushed_within_them(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        first = in_state(backend, state, key="ana")
        clock.advance(59)
        answer = again(backend, 60.0)
        assert (answer.id, answer.status) == (first, "existing")

    @pytest.mark.parametrize("state", list(State))
    def test_seconds_forbid_nothing_once_they_have_passed(
        self, backend: Backend, clock: FakeClock, state: State
    ) -> None:
        in_state(backend, state, key="ana")
        clock.advance(61)
        assert again(backend, 60.0).created

    @pytest.mark.parametrize("state", [State.PENDING, State.PAUSED])
    def test_replace_puts_the_body_into_the_job_that_waits(
        self, backend: Backend, state: State
    ) -> None:
        first = in_state(backend, state, "old", key="ana")
        answer = again(backend, "replace", priority=3)
        assert (answer.id, answer.status) == (first, "replaced")
        job = the_job(backend, first)
        assert (job.payload, job.priority, job.state) == ("again", 3, state)

    def test_a_job_replaced_by_its_key_starts_anew(self, backend: Backend) -> None:
        first = tried_and_given_back(backend, key="ana")
        assert again(backend, "replace").status == "replaced"
        job = the_job(backend, first)
        assert (job.payload, job.attempts, job.given_back) == ("again", 0, 0)
        assert (job.percent, job.note, job.stored_checkpoint) == (None, None, None)

    def test_replace_leaves_one_job_to_run(self, backend: Backend) -> None:
        first = pushed(backend, "old", key="ana", delay=600)
        again(backend, "replace")
        again(backend, "replace")
        assert [(job.id, job.payload) for job in claims(backend)] == [(first, "again")]

    def test_replace_never_touches_a_job_that_runs(self, backend: Backend) -> None:
        first = in_state(backend, State.PROCESSING, "old", key="ana")
        assert again(backend, "replace").created
        assert the_job(backend, first).payload == "old"

    def test_a_key_belongs_to_its_queue(self, backend: Backend) -> None:
        pushed(backend, key="ana")
        assert again(backend, "unfinished", queue="post").created

    def test_other_keys_and_no_key_are_free(self, backend: Backend) -> None:
        pushed(backend, key="ana")
        pushed(backend, key="Ana")
        pushed(backend, key="ben")
        pushed(backend)
        pushed(backend)
        assert len(claims(backend)) == 5

    def test_a_key_holds_whatever_the_task_and_body(self, backend: Backend) -> None:
        first = pushed(backend, "old", key="ana")
        [answer] = backend.push([a_message("new", key="ana", task="print")])
        assert (answer.id, answer.status) == (first, "existing")
        assert the_job(backend, first).payload == "old"

    def test_the_policy_is_that_of_the_new_message(self, backend: Backend) -> None:
        pushed(backend, key="ana", unique="waiting")
        claim(backend)
        assert again(backend, "unfinished").status == "existing"
        assert again(backend, "waiting").created

    def test_a_message_that_found_its_key_taken_is_not_written(self, backend: Backend) -> None:
        pushed(backend, key="ana")
        [answer] = backend.push([a_message(id="second", key="ana")])
        assert answer.id != "second"
        assert backend.get("second") is None

    def test_messages_see_the_keys_before_them_in_the_batch(self, backend: Backend) -> None:
        batch = [
            a_message(1, id="first", key="ana"),
            a_message(2, key="ana"),
            a_message(3, key="ana", unique="replace"),
            a_message(4, key="ben"),
        ]
        answers = backend.push(batch)
        statuses = [answer.status for answer in answers]
        assert statuses == ["created", "existing", "replaced", "created"]
        assert [answer.id for answer in answers[:3]] == ["first"] * 3
        assert sorted(job.payload for job in claims(backend)) == [3, 4]

    def test_the_id_is_looked_at_before_the_key(self, backend: Backend) -> None:
        pushed(backend, "body", id="first", key="ana")
        pushed(backend, "body", id="second", key="ben")
        [answer] = backend.push([a_message("body", id="second", key="ana")])
        assert (answer.id, answer.status) == ("second", "existing")

    def test_a_key_is_free_again_when_its_job_is_deleted(self, backend: Backend) -> None:
        first = pushed(backend, key="ana")
        backend.delete([first])
        assert again(backend, "unfinished").created

    def test_a_key_is_free_again_when_its_queue_is_purged(self, backend: Backend) -> None:
        pushed(backend, key="ana")
        backend.purge("mail")
        assert again(backend, "unfinished").created

    def test_a_replaced_body_may_bring_another_key(self, backend: Backend) -> None:
        first = pushed(backend, "old", id="first", key="ana")
        backend.push([a_message("new", id="first", key="ben", replace=True)])
        assert state_of(backend, first) is State.PENDING
        assert again(backend, "unfinished").created
        [answer] = backend.push([a_message(key="ben")])
        assert (answer.id, answer.status) == (first, "existing")


def again(backend: Backend, unique: Unique, **options: Any) -> Pushed:
    """Push one more message with the key."""
    [answer] = backend.push([a_message("again", key="ana", unique=unique, **options)])
    return answer
