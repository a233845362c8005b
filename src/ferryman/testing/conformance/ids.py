"""push: the same id again, in every state, with the same body and with another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.job import State
from ferryman.message import Message
from ferryman.testing.conformance.given import (
    DAY,
    QUEUE,
    a_message,
    ack,
    claim,
    claimed,
    claims,
    in_state,
    nack,
    pushed,
    settle,
    state_of,
    the_job,
    tried_and_given_back,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Ids(Store):
    def test_the_same_id_and_body_again_is_the_existing_job(self, backend: Backend) -> None:
        message = a_message({"to": "ana"}, id="order-7")
        backend.push([message])
        [answer] = backend.push([message])
        assert (answer.id, answer.status, answer.created) == ("order-7", "existing", False)
        assert len(claims(backend)) == 1

    @pytest.mark.parametrize("state", list(State))
    def test_an_id_is_known_in_every_state(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state, "body")
        [answer] = backend.push([a_message("body", id=job_id)])
        assert (answer.id, answer.status) == (job_id, "existing")
        assert state_of(backend, job_id) is state

    @pytest.mark.parametrize("state", list(State))
    def test_another_body_is_a_conflict_in_every_state(
        self, backend: Backend, state: State
    ) -> None:
        job_id = in_state(backend, state, "body")
        before = the_job(backend, job_id)
        [answer] = backend.push([a_message("other", id=job_id)])
        assert (answer.id, answer.status) == (job_id, "conflict")
        assert the_job(backend, job_id) == before

    @pytest.mark.parametrize("other", [{"queue": "post"}, {"task": "print"}, {"version": 2}])
    def test_another_queue_task_or_version_is_other_work(
        self, backend: Backend, other: dict[str, str]
    ) -> None:
        pushed(backend, "body", id="order-7")
        [answer] = backend.push([a_message("body", id="order-7", **other)])
        assert answer.status == "conflict"
        assert the_job(backend, "order-7").queue == "mail"

    def test_other_options_do_not_make_it_other_work(self, backend: Backend) -> None:
        pushed(backend, "body", id="order-7", priority=1)
        [answer] = backend.push([a_message("body", id="order-7", priority=9, delay=60, key="k")])
        assert answer.status == "existing"
        job = the_job(backend, "order-7")
        assert (job.priority, job.ready_at, job.key) == (1, job.created_at, None)

    def test_bodies_are_compared_as_json_not_as_text(self, backend: Backend) -> None:
        first = Message(queue="mail", task="send", id="order-7", body='{"a":1,"b":"é"}')
        again = Message(queue="mail", task="send", id="order-7", body='{ "b": "\\u00e9", "a": 1 }')
        assert [answer.status for answer in backend.push([first, again])] == ["created", "existing"]

    def test_messages_see_the_ids_before_them_in_the_batch(self, backend: Backend) -> None:
        batch = [a_message("body", id="a"), a_message("body", id="a"), a_message("other", id="a")]
        statuses = [answer.status for answer in backend.push(batch)]
        assert statuses == ["created", "existing", "conflict"]

    def test_a_conflict_does_not_keep_the_rest_of_the_batch_out(self, backend: Backend) -> None:
        pushed(backend, "body", id="b")
        batch = [a_message(1, id="a"), a_message("other", id="b"), a_message(3, id="c")]
        statuses = [answer.status for answer in backend.push(batch)]
        assert statuses == ["created", "conflict", "created"]
        assert sorted(job.id for job in claims(backend)) == ["a", "b", "c"]

    def test_replace_puts_a_new_body_into_the_job_that_waits(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        pushed(backend, "old", id="order-7", delay=60, max_attempts=2)
        new = a_message("new", id="order-7", replace=True, priority=5, max_attempts=9)
        [answer] = backend.push([new])
        assert (answer.id, answer.status) == ("order-7", "replaced")
        job = the_job(backend, "order-7")
        assert (job.payload, job.priority, job.max_attempts) == ("new", 5, 9)
        assert (job.state, job.ready_at) == (State.PENDING, clock.now())

    def test_a_replaced_job_runs_once_with_the_new_body(self, backend: Backend) -> None:
        pushed(backend, "old", id="order-7", delay=60)
        backend.push([a_message("new", id="order-7", replace=True)])
        assert [job.payload for job in claims(backend)] == ["new"]

    def test_a_replaced_job_starts_anew(self, backend: Backend) -> None:
        job = claimed(backend, "old", id="order-7")
        settle(backend, nack(job, delay=0))
        backend.push([a_message("new", id="order-7", replace=True, max_attempts=1)])
        found = the_job(backend, "order-7")
        assert (found.attempts, found.percent, found.stored_checkpoint) == (0, None, None)
        assert claim(backend).attempts == 1

    def test_replace_can_put_a_ready_job_off(self, backend: Backend, clock: FakeClock) -> None:
        pushed(backend, "old", id="order-7")
        backend.push([a_message("new", id="order-7", replace=True, delay=60)])
        assert claims(backend) == []
        clock.advance(60)
        assert claim(backend).payload == "new"

    def test_a_replaced_job_forgets_its_progress_and_the_turns_given_back(
        self, backend: Backend
    ) -> None:
        job_id = tried_and_given_back(backend)
        backend.push([a_message("new", id=job_id, replace=True)])
        job = the_job(backend, job_id)
        assert (job.payload, job.attempts, job.given_back) == ("new", 0, 0)
        assert (job.percent, job.note, job.stored_checkpoint) == (None, None, None)

    def test_replace_leaves_a_paused_job_paused(self, backend: Backend) -> None:
        job_id = in_state(backend, State.PAUSED, "old")
        [answer] = backend.push([a_message("new", id=job_id, replace=True)])
        assert answer.status == "replaced"
        job = the_job(backend, job_id)
        assert (job.state, job.payload) == (State.PAUSED, "new")

    @pytest.mark.parametrize(
        "state", [State.PROCESSING, State.COMPLETED, State.FAILED, State.CANCELLED]
    )
    def test_replace_is_a_conflict_when_the_job_no_longer_waits(
        self, backend: Backend, state: State
    ) -> None:
        job_id = in_state(backend, state, "old")
        [answer] = backend.push([a_message("new", id=job_id, replace=True)])
        assert answer.status == "conflict"
        assert the_job(backend, job_id).payload == "old"

    @pytest.mark.parametrize("queue", [QUEUE, "elsewhere"])
    def test_a_settle_sent_again_finds_the_job_that_was_replaced_since(
        self, backend: Backend, queue: str
    ) -> None:
        ending = nack(claimed(backend, "old", id="order-7"), delay=60)
        settle(backend, ending)
        backend.push([a_message("new", id="order-7", queue=queue, replace=True)])
        assert settle(backend, ending).applied
        job = the_job(backend, "order-7")
        assert (job.payload, job.queue, job.state) == ("new", queue, State.PENDING)

    def test_replace_of_an_unknown_id_creates_the_job(self, backend: Backend) -> None:
        [answer] = backend.push([a_message("new", id="order-7", replace=True)])
        assert answer.status == "created"

    def test_an_id_is_known_over_history(self, backend: Backend, clock: FakeClock) -> None:
        job = claimed(backend, "body")
        settle(backend, ack(job))
        clock.advance(6 * DAY)
        backend.prune(older_than=7 * DAY)
        assert backend.push([a_message("body", id=job.id)])[0].status == "existing"

    def test_an_id_is_free_again_once_its_job_is_pruned(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = claimed(backend, "body")
        settle(backend, ack(job))
        clock.advance(8 * DAY)
        assert backend.prune(older_than=7 * DAY) == 1
        assert backend.push([a_message("other", id=job.id)])[0].status == "created"
