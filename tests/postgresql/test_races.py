"""Ids stay unique over both tables, whichever of two transactions commits first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.postgresql.history import forget
from ferryman.backends.postgresql.operators import operate
from ferryman.backends.postgresql.push import lock_keys, push
from ferryman.backends.postgresql.restore import restore
from ferryman.backends.postgresql.settle import settle
from ferryman.backends.postgresql.transaction import Transaction
from ferryman.job import State
from ferryman.lifecycle import Act
from ferryman.testing.conformance.given import (
    a_message,
    ack,
    claim,
    claimed,
    claims,
    fail,
    in_state,
    nack,
    pushed,
    the_job,
)
from tests.postgresql.held import Held, beside, places, poll_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.message import Message

    Admin = psycopg.Connection[tuple[object, ...]]
    Pushing = Callable[[PostgresqlBackend, Message], str]


def alone(backend: PostgresqlBackend, message: Message) -> str:
    return backend.push([message])[0].status


def in_a_stream(backend: PostgresqlBackend, message: Message) -> str:
    others = [a_message() for _ in range(40)]
    return backend.push([*others, message])[-1].status


def in_a_small_batch(backend: PostgresqlBackend, message: Message) -> str:
    return backend.push([a_message(), message])[-1].status


def with_a_key(backend: PostgresqlBackend, message: Message) -> str:
    return backend.push([a_message("body", id=message.id, key="ana")])[0].status


def as_a_child(backend: PostgresqlBackend, message: Message) -> str:
    parent = claimed(backend, queue="parents")
    backend.settle([ack(parent, children=[message])])
    return "existing"


PUSHES = [alone, in_a_stream, in_a_small_batch, with_a_key, as_a_child]


@pytest.mark.parametrize("pushing", PUSHES)
@pytest.mark.parametrize("ending", [ack, fail])
def test_a_push_that_waits_for_a_settlement_finds_the_finished_job(
    backend: PostgresqlBackend,
    postgres_admin: Admin,
    pushing: Pushing,
    ending: Callable[..., Any],
) -> None:
    job = claimed(backend, "body", id="x")
    held = Held(backend, lambda tx: settle(tx, [ending(job)]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.commit()
        assert status.result() == "existing"
    [(table, _)] = places(postgres_admin, "x")
    assert table == "history"


@pytest.mark.parametrize("pushing", PUSHES)
def test_a_push_that_waits_for_a_settlement_that_fails_finds_the_running_job(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing
) -> None:
    job = claimed(backend, "body", id="x")
    held = Held(backend, lambda tx: settle(tx, [ack(job)]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.roll_back()
        assert status.result() == "existing"
    assert places(postgres_admin, "x") == [("jobs", "processing")]


@pytest.mark.parametrize("pushing", PUSHES)
def test_a_push_that_waits_for_a_retry_finds_the_retried_job(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing
) -> None:
    in_state(backend, State.FAILED, "body", id="x")
    held = Held(backend, lambda tx: operate(tx, Act.RETRY, ["x"]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.commit()
        assert status.result() == "existing"
    assert places(postgres_admin, "x") == [("jobs", "pending")]
    assert the_job(backend, "x").generation == 2


def test_a_retry_beside_a_push_of_the_same_id_goes_on(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    in_state(backend, State.FAILED, "body", id="x")
    held = Held(backend, lambda tx: push(tx, [a_message("body", id="x")]))
    with beside(postgres_admin, lambda: backend.retry(["x"])) as retried:
        assert held.commit()[0].status == "existing"
        assert retried.result()[0].state is State.PENDING
    assert places(postgres_admin, "x") == [("jobs", "pending")]


@pytest.mark.parametrize("pushing", PUSHES[:-1])
@pytest.mark.parametrize("state", [State.PENDING, State.FAILED])
def test_a_push_beside_a_deletion_is_of_the_old_job_or_makes_a_new_one(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing, state: State
) -> None:
    in_state(backend, state, "body", id="x")
    held = Held(backend, lambda tx: operate(tx, Act.DELETE, ["x"]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.commit()
        made_anew = status.result() == "created"
    assert places(postgres_admin, "x") == ([("jobs", "pending")] if made_anew else [])


def test_a_push_of_a_job_that_is_deleted_after_it_was_met_makes_a_new_one(
    backend: PostgresqlBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_state(backend, State.COMPLETED, "body", id="x")
    look = Transaction.rows

    def delete_and_look(tx: Transaction, name: str, values: Any = ()) -> Any:
        if name == "find_all":
            backend.delete(["x"])
        return look(tx, name, values)

    monkeypatch.setattr(Transaction, "rows", delete_and_look)
    assert alone(backend, a_message("body", id="x")) == "created"


def test_a_push_beside_a_prune_is_of_the_old_job_or_makes_a_new_one(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    in_state(backend, State.COMPLETED, "body", id="x")
    seq = the_job(backend, "x").seq
    held = Held(backend, lambda tx: forget(tx, [seq]))
    with beside(postgres_admin, partial(alone, backend, a_message("body", id="x"))) as status:
        assert status.result() == "existing"
        held.commit()
    assert places(postgres_admin, "x") == []
    assert alone(backend, a_message("body", id="x")) == "created"


@pytest.mark.parametrize("pushing", PUSHES[:-1])
def test_of_two_pushes_at_once_one_creates_the_job(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing
) -> None:
    held = Held(backend, lambda tx: push(tx, [a_message("body", id="x")]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        assert held.commit()[0].status == "created"
        assert status.result() == "existing"
    assert places(postgres_admin, "x") == [("jobs", "pending")]


@pytest.mark.parametrize("pushing", PUSHES[:-1])
def test_a_push_that_is_rolled_back_leaves_the_id_to_the_next(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing
) -> None:
    held = Held(backend, lambda tx: push(tx, [a_message("other", id="x")]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.roll_back()
        assert status.result() == "created"
    assert the_job(backend, "x").payload == "body"


@pytest.mark.parametrize("pushing", PUSHES)
@pytest.mark.parametrize("state", [State.COMPLETED, State.PAUSED])
def test_a_push_beside_a_restore_finds_the_restored_job(
    backend: PostgresqlBackend, postgres_admin: Admin, pushing: Pushing, state: State
) -> None:
    in_state(backend, state, "body", id="x")
    job = the_job(backend, "x")
    backend.delete(["x"])
    held = Held(backend, lambda tx: restore(tx, [job]))
    with beside(postgres_admin, partial(pushing, backend, a_message("body", id="x"))) as status:
        held.commit()
        assert status.result() == "existing"
    assert [found for _, found in places(postgres_admin, "x")] == [state]


def test_a_restore_beside_a_push_finds_the_pushed_job(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    in_state(backend, State.COMPLETED, "body", id="x")
    job = the_job(backend, "x")
    backend.delete(["x"])
    held = Held(backend, lambda tx: push(tx, [a_message("body", id="x")]))
    with beside(postgres_admin, lambda: backend.restore([job])) as restored:
        held.commit()
        assert restored.result()[0].status == "existing"
    assert places(postgres_admin, "x") == [("jobs", "pending")]


@pytest.mark.parametrize("state", [State.COMPLETED, State.PAUSED])
def test_a_restore_beside_a_restore_of_its_finished_job_finds_it(
    backend: PostgresqlBackend, postgres_admin: Admin, state: State
) -> None:
    in_state(backend, state, "body", id="x")
    later = the_job(backend, "x")
    backend.delete(["x"])
    in_state(backend, State.COMPLETED, "body", id="x")
    first = the_job(backend, "x")
    backend.delete(["x"])
    held = Held(backend, lambda tx: restore(tx, [first]))
    with beside(postgres_admin, lambda: backend.restore([later])) as restored:
        held.commit()
        assert restored.result()[0].status == "existing"
    assert places(postgres_admin, "x") == [("history", "completed")]


def test_a_poll_passes_by_a_job_that_is_being_replaced(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend, "old", id="x")
    other = pushed(backend)
    held = Held(backend, lambda tx: push(tx, [a_message("new", id="x", replace=True)]))
    assert [job.id for job in claims(backend)] == [other]
    assert held.commit()[0].status == "replaced"
    assert claim(backend).payload == "new"


@pytest.mark.parametrize("options", [{"id": "x", "replace": True}, {"unique": "replace"}])
def test_a_replacement_never_changes_a_job_that_was_claimed_meanwhile(
    backend: PostgresqlBackend, postgres_admin: Admin, options: dict[str, Any]
) -> None:
    pushed(backend, "old", id="x", key="ana")
    held = Held(backend, poll_in)
    message = a_message("new", key="ana", **options)
    with beside(postgres_admin, lambda: backend.push([message])) as answers:
        held.commit()
        [answer] = answers.result()
    assert answer.status == ("conflict" if "id" in options else "created")
    job = the_job(backend, "x")
    assert (job.payload, job.state) == ("old", State.PROCESSING)


def test_a_replacement_of_a_job_that_was_deleted_meanwhile_makes_a_new_one(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend, "old", id="x")
    held = Held(backend, lambda tx: operate(tx, Act.DELETE, ["x"]))
    message = a_message("new", id="x", replace=True)
    with beside(postgres_admin, partial(alone, backend, message)) as status:
        held.commit()
        assert status.result() == "created"
    assert the_job(backend, "x").payload == "new"


def test_a_replacement_finds_a_job_that_was_given_back_meanwhile(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = claimed(backend, "old", id="x")
    held = Held(backend, lambda tx: settle(tx, [nack(job, delay=0)]))
    with beside(postgres_admin, partial(alone, backend, a_message("new", id="x"))) as status:
        held.commit()
        assert status.result() == "conflict"
    assert alone(backend, a_message("new", id="x", replace=True)) == "replaced"


def test_of_two_pushes_of_one_key_the_second_waits_for_the_first(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    held = Held(backend, lambda tx: push(tx, [a_message(id="first", key="ana")]))
    with beside(postgres_admin, lambda: backend.push([a_message(key="ana")])) as answers:
        held.commit()
        [answer] = answers.result()
    assert (answer.id, answer.status) == ("first", "existing")


def test_a_retry_waits_for_a_push_of_its_key_and_is_refused(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    in_state(backend, State.FAILED, id="old", key="ana")
    held = Held(backend, lambda tx: push(tx, [a_message(id="new", key="ana")]))
    with beside(postgres_admin, lambda: backend.retry(["old"])) as acted:
        held.commit()
        assert "holds the key" in (acted.result()[0].refused or "")


def test_a_push_waits_for_a_retry_of_a_job_with_its_key_that_ended_only_just(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = claimed(backend, id="old", key="ana")
    ending = Held(backend, lambda tx: settle(tx, [fail(job)]))
    with beside(
        postgres_admin, lambda: Held(backend, lambda tx: operate(tx, Act.RETRY, ["old"]))
    ) as retried:
        ending.commit()
        retry = retried.result()
    with beside(postgres_admin, lambda: backend.push([a_message(id="new", key="ana")])) as answers:
        retry.commit()
        [answer] = answers.result()
    assert (answer.id, answer.status) == ("old", "existing")


def test_an_operator_finds_a_job_that_moved_while_it_waited(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job = claimed(backend, id="x")
    held = Held(backend, lambda tx: settle(tx, [fail(job)]))
    with beside(postgres_admin, lambda: backend.retry(["x"])) as acted:
        held.commit()
        assert acted.result()[0].state is State.PENDING


def test_a_pause_of_a_queue_waits_for_the_claims_under_way(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    pushed(backend, id="x")
    held = Held(backend, poll_in)
    with beside(postgres_admin, lambda: backend.pause_queue("mail")) as paused:
        assert not paused.done()
        held.commit()
        paused.result()
    pushed(backend)
    assert claims(backend) == []


def test_a_queue_is_resumed_after_the_polls_that_found_it_paused(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    job_id = pushed(backend)
    backend.pause_queue("mail")
    held = Held(backend, poll_in)
    with beside(postgres_admin, lambda: backend.resume_queue("mail")) as resumed:
        assert not resumed.done()
        held.commit()
        resumed.result()
    assert [job.id for job in claims(backend)] == [job_id]


def test_two_batches_in_opposite_orders_both_end(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    ids = [f"j{number}" for number in range(30)]
    forwards = [a_message(id=job_id) for job_id in ids]
    held = Held(backend, lambda tx: push(tx, forwards[:15]))
    with beside(postgres_admin, lambda: backend.push(forwards[::-1])) as answers:
        held.commit()
        statuses = [answer.status for answer in answers.result()]
    assert statuses == ["created"] * 15 + ["existing"] * 15


def test_a_job_is_dated_after_the_end_of_the_one_that_held_its_key(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    holder = claimed(backend, key="ana")
    other = Held(backend, lambda tx: lock_keys(tx, [(holder.queue, "ana")]))
    with beside(postgres_admin, lambda: backend.push([a_message(key="ana")])) as pushing:
        backend.settle([ack(holder)])
        other.commit()
    [answer] = pushing.result()
    ended = the_job(backend, holder.id).finished_at
    assert answer.created
    assert ended is not None
    assert the_job(backend, answer.id).created_at >= ended
