"""A burst announces its first push and its last, and hardly more."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferryman.backends.postgresql.announcer import Announcer
from ferryman.testing.conformance.given import pushed, several
from ferryman.testing.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend


def test_the_first_may_tell_and_the_next_is_owed() -> None:
    told: list[Sequence[str]] = []
    announcer = Announcer(told.append)
    assert announcer.may_tell(["mail", "post"]) == {"mail": False, "post": False}
    assert announcer.may_tell(["mail", "pages"]) == {"pages": False}
    announcer.owe(["mail"])
    wait_until(lambda: told == [["mail"]], what="the debt to be paid")


def test_a_debt_that_somebody_took_over_and_did_not_pay_is_owed_again() -> None:
    calls: list[Sequence[str]] = []
    announcer = Announcer(calls.append)
    announcer.may_tell(["mail", "post"])
    announcer.owe(["mail"])
    told: Mapping[str, bool] = {}
    # Before the announcer's own thread is there, which waits a little longer.
    while not told:
        told = announcer.may_tell(["mail", "post"])
    announcer.take_back(told)
    wait_until(lambda: calls == [["mail"]], what="the debt to be paid")


def test_a_burst_is_announced_a_few_times_and_last_of_all_at_its_end() -> None:
    told = threading.Semaphore(0)
    calls: list[Sequence[str]] = []

    def tell(queues: Sequence[str]) -> None:
        calls.append(queues)
        told.release()

    announcer = Announcer(tell)
    for _ in range(2_000):
        if not announcer.may_tell(["mail"]):
            announcer.owe(["mail"])
    assert told.acquire(timeout=5)
    assert len(calls) < 100


def test_other_sessions_hear_of_a_burst(
    backend: PostgresqlBackend, postgres: str, postgres_admin: psycopg.Connection[object]
) -> None:
    postgres_admin.execute("LISTEN ferryman_swept")
    try:
        for _ in range(50):
            pushed(backend)
        several(backend, 100, queue="post")
        heard = set()
        for notice in postgres_admin.notifies(timeout=5):
            heard.add(notice.payload)
            if heard == {"mail", ""}:
                break
        # The first by its name; of the others only that there is something to look for.
        assert heard == {"mail", ""}
    finally:
        postgres_admin.execute("UNLISTEN *")
