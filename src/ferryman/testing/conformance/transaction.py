"""push and settle in the caller's own transaction: they hold from its commit, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pytest

from ferryman.errors import FerrymanError, Unsupported
from ferryman.job import State
from ferryman.lifecycle import Verdict
from ferryman.queue.joining import Joining
from ferryman.queue.settlement import Settlement
from ferryman.testing.conformance.given import a_message, claim, claims, pushed, state_of, the_job
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.job import Job
    from ferryman.queue.contract import Backend


class Connection(Protocol):
    """What the cases need of a database connection: a transaction is open when they get it."""

    def commit(self) -> object: ...

    def rollback(self) -> object: ...


class Transaction(Store):
    @pytest.fixture
    def connection(self, backend: Backend) -> Connection:
        """The caller's own connection to the store's database, with a transaction open.

        A backend with `transactional_push` overrides this.
        """
        needs(backend, "transactional_push")
        raise NotImplementedError("override the fixture `connection`: see its docstring")

    @pytest.fixture
    def held(self, backend: Backend) -> Job:
        """A claim, made before the transaction begins: on SQLite nobody else can write then."""
        pushed(backend)
        return claim(backend)

    def test_a_push_in_a_transaction_is_invisible_before_the_commit(
        self, backend: Backend, connection: Connection
    ) -> None:
        [answer] = backend.push([a_message()], connection=connection)
        assert answer.created
        assert backend.get(answer.id) is None
        connection.rollback()

    def test_a_push_in_a_transaction_holds_from_the_commit(
        self, backend: Backend, connection: Connection
    ) -> None:
        answers = backend.push([a_message(number) for number in range(3)], connection=connection)
        connection.commit()
        assert sorted(job.id for job in claims(backend)) == sorted(a.id for a in answers)

    def test_a_push_that_is_rolled_back_never_was(
        self, backend: Backend, connection: Connection
    ) -> None:
        [answer] = backend.push([a_message(key="ana")], connection=connection)
        connection.rollback()
        assert backend.get(answer.id) is None
        assert backend.snapshot().count(State.PENDING) == 0
        assert pushed(backend, id=answer.id, key="ana") == answer.id

    def test_ids_and_keys_hold_inside_a_transaction(
        self, backend: Backend, connection: Connection
    ) -> None:
        batch = [a_message("a", id="a"), a_message("b", id="a"), a_message("c", id="c", key="k")]
        first = backend.push(batch, connection=connection)
        again = backend.push([a_message("a", id="a"), a_message(key="k")], connection=connection)
        connection.commit()
        assert [answer.status for answer in first] == ["created", "conflict", "created"]
        assert [(answer.id, answer.status) for answer in again] == [
            ("a", "existing"),
            ("c", "existing"),
        ]

    def test_the_backend_works_on_after_a_transaction(
        self, backend: Backend, connection: Connection
    ) -> None:
        [answer] = backend.push([a_message()], connection=connection)
        connection.commit()
        assert claim(backend).id == answer.id
        assert state_of(backend, pushed(backend)) is State.PENDING

    def test_an_end_in_a_transaction_holds_from_the_commit(
        self, backend: Backend, held: Job, connection: Connection
    ) -> None:
        assert isinstance(backend, Joining)
        ends = Settlement.of(held, Verdict.ACK, result='"done"', children=(a_message(id="child"),))
        [receipt] = backend.settle_within(connection, [ends])
        assert (receipt.applied, receipt.state) == (True, State.COMPLETED)
        assert state_of(backend, held.id) is State.PROCESSING
        connection.commit()
        ended = the_job(backend, held.id)
        assert (ended.state, ended.result) == (State.COMPLETED, '"done"')
        assert state_of(backend, "child") is State.PENDING
        assert backend.settle([ends])[0].applied

    def test_an_end_that_is_rolled_back_never_was(
        self, backend: Backend, held: Job, connection: Connection
    ) -> None:
        assert isinstance(backend, Joining)
        [receipt] = backend.settle_within(connection, [Settlement.of(held, Verdict.ACK)])
        assert receipt.applied
        connection.rollback()
        assert state_of(backend, held.id) is State.PROCESSING
        assert backend.settle([Settlement.of(held, Verdict.NACK)])[0].state is State.PENDING

    def test_a_lost_lease_ends_nothing_in_a_transaction_either(
        self, backend: Backend, held: Job, connection: Connection
    ) -> None:
        assert isinstance(backend, Joining)
        stale = replace(Settlement.of(held, Verdict.ACK), fence=held.fence + 1)
        [receipt] = backend.settle_within(connection, [stale])
        connection.commit()
        assert not receipt.applied
        assert state_of(backend, held.id) is State.PROCESSING

    def test_a_connection_that_cannot_be_joined_is_refused(self, backend: Backend) -> None:
        able = backend.capabilities
        with pytest.raises(FerrymanError if able.transactional_push else Unsupported) as refused:
            backend.push([a_message(id="refused")], connection=object())
        assert able.transactional_push or able.backend in str(refused.value)
        assert backend.get("refused") is None
