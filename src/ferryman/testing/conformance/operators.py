"""get, delete and purge, and what every operator's verb answers to unknown ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.heartbeat import Beat
from ferryman.testing.conformance.given import (
    NO_IDS,
    ODD_NAMES,
    a_message,
    ack,
    claimed,
    claims,
    in_state,
    pushed,
    settle,
    several,
    state_of,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock

VERBS = ("cancel", "pause", "resume", "retry", "delete")


class Operators(Store):
    def test_get_of_an_unknown_id_is_none(self, backend: Backend) -> None:
        pushed(backend)
        assert backend.get("nobody") is None

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_get_finds_odd_ids_and_only_them(self, backend: Backend, name: str) -> None:
        pushed(backend, "odd", id=name)
        assert the_job(backend, name).payload == "odd"
        assert backend.get(f"{name}x") is None

    @pytest.mark.parametrize("name", NO_IDS, ids=ascii)
    def test_what_no_id_can_be_is_unknown(self, backend: Backend, name: str) -> None:
        job = claimed(backend)
        assert backend.get(name) is None
        acted = [act for verb in VERBS for act in getattr(backend, verb)([name])]
        assert [act.state for act in acted] == [None] * len(VERBS)
        beats = [Beat(name, 1), Beat(job.id, job.fence)]
        pulses = backend.heartbeat(job.worker or "", beats, lease=60)
        assert [pulse.held for pulse in pulses] == [False, True]

    @pytest.mark.parametrize("verb", VERBS)
    def test_an_unknown_id_is_answered_without_a_state(self, backend: Backend, verb: str) -> None:
        [acted] = getattr(backend, verb)(["nobody"])
        assert (acted.id, acted.state) == ("nobody", None)

    @pytest.mark.parametrize("verb", VERBS)
    def test_an_empty_batch_of_ids_is_answered(self, backend: Backend, verb: str) -> None:
        pushed(backend)
        assert list(getattr(backend, verb)([])) == []
        assert backend.snapshot().count(State.PENDING) == 1

    @pytest.mark.parametrize("verb", VERBS)
    def test_an_unknown_id_spoils_no_other(self, backend: Backend, verb: str) -> None:
        start = {"resume": State.PAUSED, "retry": State.FAILED}.get(verb, State.PENDING)
        job_id = in_state(backend, start)
        acted = getattr(backend, verb)(["nobody", job_id, "nobody either"])
        assert [answer.id for answer in acted] == ["nobody", job_id, "nobody either"]
        assert (acted[1].refused, acted[0].state, acted[2].state) == (None, None, None)

    @pytest.mark.parametrize("state", [state for state in State if state is not State.PROCESSING])
    def test_a_deleted_job_is_forgotten_wholly(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state, "body")
        [acted] = backend.delete([job_id])
        assert (acted.id, acted.state, acted.refused) == (job_id, state, None)
        assert backend.get(job_id) is None
        assert backend.list(Filter()).jobs == ()
        assert backend.push([a_message("other", id=job_id)])[0].status == "created"

    def test_a_deleted_job_leaves_no_errors_or_logs_to_its_successor(
        self, backend: Backend
    ) -> None:
        job_id = in_state(backend, State.FAILED)
        backend.delete([job_id])
        pushed(backend, id=job_id)
        job = the_job(backend, job_id)
        assert (job.errors, job.error, job.fence, job.generation) == ((), None, 0, 1)

    def test_a_running_job_cannot_be_deleted(self, backend: Backend) -> None:
        job = claimed(backend)
        [acted] = backend.delete([job.id])
        assert (acted.state, acted.refused is None) == (State.PROCESSING, False)
        assert settle(backend, ack(job)).applied

    def test_deleting_twice_finds_nothing_the_second_time(self, backend: Backend) -> None:
        job_id = pushed(backend)
        first, second = backend.delete([job_id, job_id])
        assert (first.state, second.state) == (State.PENDING, None)

    def test_a_deleted_job_is_never_claimed(self, backend: Backend, clock: FakeClock) -> None:
        backend.delete([pushed(backend), pushed(backend, delay=30)])
        clock.advance(60)
        assert claims(backend) == []

    def test_purge_deletes_pending_scheduled_and_paused_jobs(self, backend: Backend) -> None:
        ids = [pushed(backend), pushed(backend, delay=60), in_state(backend, State.PAUSED)]
        assert backend.purge("mail") == 3
        assert [backend.get(job_id) for job_id in ids] == [None, None, None]

    @pytest.mark.parametrize(
        "state", [State.PROCESSING, State.COMPLETED, State.FAILED, State.CANCELLED]
    )
    def test_purge_leaves_running_and_finished_jobs(self, backend: Backend, state: State) -> None:
        job_id = in_state(backend, state)
        pushed(backend)
        assert backend.purge("mail") == 1
        assert state_of(backend, job_id) is state

    def test_purge_leaves_other_queues_alone(self, backend: Backend) -> None:
        kept = [pushed(backend, queue=queue) for queue in ("post", "Mail", "mail%", "mai_")]
        pushed(backend)
        assert backend.purge("mail") == 1
        assert [state_of(backend, job_id) for job_id in kept] == [State.PENDING] * 4

    def test_purging_an_empty_or_unknown_queue_deletes_nothing(self, backend: Backend) -> None:
        assert backend.purge("nowhere") == 0
        pushed(backend)
        assert (backend.purge("mail"), backend.purge("mail")) == (1, 0)

    def test_purge_takes_many_at_once(self, backend: Backend) -> None:
        several(backend, self.many * 3 // 2)
        assert backend.purge("mail") == self.many * 3 // 2
        assert claims(backend) == []

    def test_a_purged_id_is_free_again(self, backend: Backend) -> None:
        pushed(backend, "body", id="order-7")
        backend.purge("mail")
        assert backend.push([a_message("other", id="order-7")])[0].status == "created"

    def test_a_purged_queue_stays_paused(self, backend: Backend) -> None:
        backend.pause_queue("mail")
        pushed(backend)
        backend.purge("mail")
        pushed(backend)
        assert claims(backend) == []
