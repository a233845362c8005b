"""push: what a message becomes when the store accepts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import InvalidMessage
from ferryman.job import State
from ferryman.message import MAX_BYTES, MAX_ID, MAX_META, MAX_PRIORITY
from ferryman.retry import Backoff
from ferryman.testing.conformance.given import (
    ODD_NAMES,
    a_message,
    claim,
    claims,
    pushed,
    several,
    the_job,
)
from ferryman.testing.conformance.store import Store

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Push(Store):
    def test_a_pushed_job_is_pending_and_untouched(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        job = the_job(backend, pushed(backend, {"to": "ana"}))
        assert (job.state, job.attempts, job.given_back) == (State.PENDING, 0, 0)
        assert (job.generation, job.created_at, job.ready_at) == (1, clock.now(), clock.now())
        assert (job.worker, job.started_at, job.finished_at, job.expires_at) == (None,) * 4
        assert (job.result, job.error, job.errors, job.logs) == (None, None, (), ())

    def test_every_option_of_a_message_is_kept(self, backend: Backend, clock: FakeClock) -> None:
        backoff = Backoff(base=7, factor=3, cap=70, jitter=0.5).text()
        job_id = pushed(
            backend,
            {"to": "ana"},
            id="order-7",
            version=3,
            priority=-4,
            delay=30,
            expires=90,
            key="ana",
            max_attempts=2,
            backoff=backoff,
            timeout=12.5,
            correlation_id="request-9",
            meta={"user_id": "42", "campaign": "spring"},
        )
        job = the_job(backend, job_id)
        assert (job.id, job.queue, job.task) == ("order-7", "mail", "send")
        assert (job.payload, job.version, job.priority) == ({"to": "ana"}, 3, -4)
        assert (job.ready_at, job.deadline) == (clock.now() + 30, clock.now() + 90)
        assert (job.key, job.max_attempts, job.backoff) == ("ana", 2, backoff)
        assert (job.timeout, job.correlation_id) == (12.5, "request-9")
        assert job.meta == {"user_id": "42", "campaign": "spring"}

    def test_defaults_of_a_message_are_kept_as_they_are(self, backend: Backend) -> None:
        job = the_job(backend, pushed(backend))
        assert (job.payload, job.version, job.priority, job.max_attempts) == (None, 1, 0, 5)
        assert (job.deadline, job.key, job.backoff, job.timeout) == (None,) * 4
        assert (job.correlation_id, job.meta) == (None, {})

    def test_an_empty_batch_is_accepted(self, backend: Backend) -> None:
        assert list(backend.push([])) == []

    def test_answers_come_in_the_order_of_the_batch(self, backend: Backend) -> None:
        messages = [a_message(number) for number in range(20)]
        answers = backend.push(messages)
        assert [answer.id for answer in answers] == [message.id for message in messages]
        assert {answer.status for answer in answers} == {"created"}

    def test_a_batch_may_go_to_several_queues(self, backend: Backend) -> None:
        backend.push([a_message(1, queue="a"), a_message(2, queue="b"), a_message(3, queue="a")])
        assert [job.payload for job in claims(backend, queue="a")] == [1, 3]
        assert [job.payload for job in claims(backend, queue="b")] == [2]

    def test_many_jobs_go_through_one_batch(self, backend: Backend) -> None:
        ids = several(backend, self.many)
        assert len(set(ids)) == self.many
        assert backend.snapshot().count(State.PENDING) == self.many
        assert sorted(job.id for job in claims(backend, self.many)) == sorted(ids)

    def test_seq_grows_with_every_push(self, backend: Backend) -> None:
        ids = [pushed(backend), *several(backend, 3), pushed(backend)]
        seqs = [the_job(backend, job_id).seq for job_id in ids]
        assert seqs == sorted(set(seqs))

    def test_the_body_comes_back_exactly(self, backend: Backend) -> None:
        payload = {
            "text": "žluťoučký 🚢 \u0000 \u2028 'quoted' \"double\" \\ %s {}",
            "numbers": [0, -1, 2**53 + 1, 2**63, -(2**70), 0.1, 1e308, 5e-324],
            "": {"empty": [[], {}, "", None, True, False]},
        }
        pushed(backend, payload)
        assert claim(backend).payload == payload

    def test_the_largest_payload_fits(self, backend: Backend) -> None:
        payload = "é" * ((MAX_BYTES - 2) // 2)
        job_id = pushed(backend, payload)
        assert claim(backend).payload == payload
        assert the_job(backend, job_id).payload == payload

    def test_a_payload_over_the_limit_is_refused_before_the_store(self, backend: Backend) -> None:
        with pytest.raises(InvalidMessage, match="payload"):
            pushed(backend, "x" * MAX_BYTES)
        assert backend.snapshot().count(State.PENDING) == 0

    def test_the_deepest_allowed_payload_fits(self, backend: Backend) -> None:
        body = "[" * 64 + "]" * 64
        backend.push([a_message(json.loads(body))])
        assert claim(backend).payload == json.loads(body)

    def test_the_largest_priorities_are_kept(self, backend: Backend) -> None:
        pushed(backend, "last", priority=-MAX_PRIORITY)
        pushed(backend, "first", priority=MAX_PRIORITY)
        found = {job.payload: job.priority for job in claims(backend)}
        assert found == {"first": MAX_PRIORITY, "last": -MAX_PRIORITY}

    def test_meta_fits_to_its_limits(self, backend: Backend) -> None:
        meta = {f"{number:02}{'n' * 62}": f"{number}⛴" * 100 for number in range(MAX_META)}
        pushed(backend, meta=meta)
        assert claim(backend).meta == meta

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_odd_names_are_names_like_any_other(self, backend: Backend, name: str) -> None:
        odd = {"id": name, "queue": name, "task": name, "key": name, "correlation_id": name}
        pushed(backend, "odd", meta={"name": name}, **odd)
        pushed(backend, "plain", key=name)
        job = claim(backend, queue=name, worker=name)
        assert {field: getattr(job, field) for field in odd} == odd
        assert (job.worker, job.meta) == (name, {"name": name})
        assert [other.payload for other in claims(backend)] == ["plain"]

    def test_names_that_look_alike_stay_apart(self, backend: Backend) -> None:
        alike = ["mail", "Mail", "MAIL", "mail ", "mail.", "caf\u00e9", "cafe\u0301", "m%", "m_"]
        for name in alike:
            pushed(backend, name, queue=name, id=name)
        for name in alike:
            assert [job.payload for job in claims(backend, queue=name)] == [name]

    def test_the_longest_ids_are_told_apart_by_their_last_character(self, backend: Backend) -> None:
        ids = [f"{'i' * (MAX_ID - 1)}{end}" for end in "ab"] + ["⛴" * 300]
        for job_id in ids:
            pushed(backend, id=job_id)
        assert sorted(job.id for job in claims(backend)) == sorted(ids)

    @pytest.mark.parametrize("field", ["id", "queue", "task", "key", "correlation_id"])
    @pytest.mark.parametrize("name", ["", "  ", "a\nb", "nul\0", "\ud800"])
    def test_names_that_no_store_could_keep_are_refused(self, field: str, name: str) -> None:
        with pytest.raises(InvalidMessage) as refused:
            a_message(**{field: name})
        assert refused.value.field == field
