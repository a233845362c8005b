"""SQS as other people understood it: the cases that stand most on messages, on a second server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.fence import Fence
from ferryman.testing.conformance.given import ack, claim, claims, nack, pushed, settle, several
from ferryman.testing.conformance.handoff import HandOff
from ferryman.testing.conformance.ids import Ids
from ferryman.testing.conformance.lifecycle import Lifecycle
from ferryman.testing.conformance.pause import PausedQueue
from ferryman.testing.conformance.poll import Poll
from ferryman.testing.conformance.reap import Reap
from tests.conformance.sqs_ledger import BeforeSqlite
from tests.servers.sqs import sqs_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


class TestSqsOnFauxqs(BeforeSqlite, Ids, Fence, HandOff, Lifecycle, PausedQueue, Poll, Reap):
    @pytest.fixture
    def url(self, fauxqs: Server, aws_settings: None, project: str, ledger: Path) -> str:
        return sqs_url(fauxqs, project, f"sqlite:///{ledger}")


class TestSqsAloneOnFauxqs:
    """Where a stale handle is answered as if the message had been deleted, unlike on ministack,
    a late ack is believed; the message is there all the same, and its job runs again.
    """

    @pytest.fixture
    def store(self, fauxqs: Server, aws_settings: None) -> Iterator[Backend]:
        store = open_backend(sqs_url(fauxqs, new_id().replace("-", "")))
        yield store
        store.close()

    def test_jobs_are_claimed_and_ended_in_batches(self, store: Backend) -> None:
        ids = several(store, 25)
        jobs = claims(store, 25)
        assert sorted(job.id for job in jobs) == sorted(ids)
        assert all(receipt.applied for receipt in store.settle([ack(job) for job in jobs]))
        assert claims(store) == []

    def test_a_job_given_back_is_charged_and_comes_again(self, store: Backend) -> None:
        job_id = pushed(store)
        settle(store, nack(claim(store), delay=0))
        again = claim(store)
        assert (again.id, again.attempts) == (job_id, 2)

    def test_a_late_ack_does_not_end_the_job(self, store: Backend) -> None:
        job_id = pushed(store)
        [late] = store.poll("w1", {"mail": 1}, lease=1)
        assert store.wait(["mail"], 20)
        assert settle(store, ack(late)).applied
        [again] = claims(store, worker="w2")
        assert (again.id, again.attempts) == (job_id, 2)
