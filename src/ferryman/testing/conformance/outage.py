"""A store that is away: every verb says so, and everything works again when it is back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from ferryman.errors import BackendUnavailable
from ferryman.job import State
from ferryman.queue.heartbeat import Beat
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claimed,
    claims,
    pushed,
    settle,
    state_of,
)
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class TakesAway(Protocol):
    """Takes the store away for the length of a `with` block."""

    def __call__(self) -> AbstractContextManager[object]: ...


# What writes, and so cannot be done while the store is away; "held" is a job that runs.
WRITES: dict[str, Callable[[Backend], object]] = {
    "push": lambda store: store.push([a_message(id="lost")]),
    "poll": lambda store: store.poll("w1", {"mail": 1}, lease=60),
    "heartbeat": lambda store: store.heartbeat("w1", [Beat("held", 1, percent=1)], lease=60),
    "cancel": lambda store: store.cancel(["waiting"]),
    "pause": lambda store: store.pause(["waiting"]),
    "delete": lambda store: store.delete(["waiting"]),
    "purge": lambda store: store.purge("mail"),
    "pause_queue": lambda store: store.pause_queue("mail"),
    "write_cell": lambda store: store.write_cell("k", "v", expect=0),
}


class Promise7Outage(Store):
    @pytest.fixture
    def impatient_url(self, url: str) -> str:
        """The same store, opened so that it gives up soon; override it if there is such a way."""
        return url

    @pytest.fixture
    def outage(self, backend: Backend) -> TakesAway:
        """How this store is taken away; a store that can outlive its process overrides this."""
        needs(backend, "durable")
        raise NotImplementedError("override the fixture `outage`: see its docstring")

    @pytest.fixture
    def fragile(
        self, backend: Backend, outage: TakesAway, impatient_url: str, clock: FakeClock
    ) -> Iterator[Backend]:
        """A store with a job that runs (`held`) and one that waits (`waiting`)."""
        claimed(backend, id="held")
        pushed(backend, id="waiting")
        store = open_backend(impatient_url, clock)
        yield store
        store.close()

    def test_promise_7_an_outage_never_looks_like_an_empty_queue(
        self, fragile: Backend, outage: TakesAway
    ) -> None:
        with outage(), pytest.raises(BackendUnavailable):
            claims(fragile)

    @pytest.mark.parametrize("verb", WRITES)
    def test_promise_7_a_verb_that_cannot_write_says_so_and_leaves_no_trace(
        self, fragile: Backend, outage: TakesAway, backend: Backend, verb: str
    ) -> None:
        with outage(), pytest.raises(BackendUnavailable):
            WRITES[verb](fragile)
        assert backend.get("lost") is None
        assert (state_of(backend, "held"), state_of(backend, "waiting")) == (
            "processing",
            "pending",
        )
        assert [job.id for job in claims(backend)] == ["waiting"]

    def test_promise_7_what_can_still_be_read_is_not_empty(
        self, fragile: Backend, outage: TakesAway
    ) -> None:
        with outage():
            try:
                job, counts = fragile.get("waiting"), fragile.snapshot()
            except BackendUnavailable:
                return
        assert job is not None
        assert counts.count(State.PENDING) == 1

    def test_promise_7_everything_works_again_when_the_store_is_back(
        self, fragile: Backend, outage: TakesAway
    ) -> None:
        message = a_message("body", id="again")
        with outage(), pytest.raises(BackendUnavailable):
            fragile.push([message])
        assert fragile.push([message])[0].created
        assert {job.id for job in claims(fragile)} == {"waiting", "again"}

    def test_promise_7_a_claim_can_be_settled_after_the_outage(
        self, fragile: Backend, outage: TakesAway
    ) -> None:
        job = claim(fragile)
        with outage(), pytest.raises(BackendUnavailable):
            settle(fragile, ack(job))
        assert state_of(fragile, job.id) is State.PROCESSING
        assert settle(fragile, ack(job)).state is State.COMPLETED
