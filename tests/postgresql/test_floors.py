"""Polls beside rows that are dead and cannot be removed: they begin where the living are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.postgresql import floors
from ferryman.testing.conformance.given import claim, claims, pushed

if TYPE_CHECKING:
    from ferryman.backends.postgresql import PostgresqlBackend

NEW, OLD = 1_700_000_100.0, 1_700_000_000.0


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every poll took too long, and dead rows are why."""
    monkeypatch.setattr(floors, "SLOW", -1.0)
    monkeypatch.setattr(floors, "EACH", 0.0)
    monkeypatch.setattr(floors, "DEAD", 0)
    monkeypatch.setattr(floors, "GAIN", 0.0)


def test_a_quick_poll_begins_at_the_beginning(backend: PostgresqlBackend) -> None:
    pushed(backend, "first", ready_at=NEW)
    assert claim(backend).payload == "first"
    pushed(backend, "new", ready_at=NEW)
    pushed(backend, "old", ready_at=OLD)
    assert [job.payload for job in claims(backend)] == ["old", "new"]


@pytest.mark.usefixtures("slow")
def test_after_a_slow_one_the_next_begin_where_it_found_something(
    backend: PostgresqlBackend,
) -> None:
    pushed(backend, "first", ready_at=NEW)
    assert claim(backend).payload == "first"
    pushed(backend, "new", ready_at=NEW)
    pushed(backend, "late", ready_at=NEW - floors.SLACK / 2)
    pushed(backend, "old", ready_at=OLD)
    pushed(backend, "elsewhere", queue="post", ready_at=OLD)
    assert [job.payload for job in claims(backend)] == ["late", "new"]
    assert [job.payload for job in claims(backend, queue="post")] == ["elsewhere"]


@pytest.mark.usefixtures("slow")
def test_a_poll_that_finds_nothing_there_looks_at_the_whole_line(
    backend: PostgresqlBackend,
) -> None:
    pushed(backend, "first", ready_at=NEW)
    assert claim(backend).payload == "first"
    pushed(backend, "old", ready_at=OLD)
    assert [job.payload for job in claims(backend)] == ["old"]


@pytest.mark.usefixtures("slow")
def test_what_does_not_make_a_poll_quicker_is_given_up(
    backend: PostgresqlBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floors, "GAIN", math.inf)
    for payload in ("first", "second"):
        pushed(backend, payload, ready_at=NEW)
        assert claim(backend).payload == payload
    pushed(backend, "new", ready_at=NEW)
    pushed(backend, "old", ready_at=OLD)
    assert [job.payload for job in claims(backend)] == ["old", "new"]


@pytest.mark.usefixtures("slow")
def test_and_so_does_one_after_a_while(
    backend: PostgresqlBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floors, "WHOLE_EVERY", 0.0)
    pushed(backend, "first", ready_at=NEW)
    assert claim(backend).payload == "first"
    pushed(backend, "new", ready_at=NEW)
    pushed(backend, "old", ready_at=OLD)
    assert [job.payload for job in claims(backend)] == ["old", "new"]


@pytest.mark.usefixtures("slow")
def test_they_rise_with_what_is_claimed(backend: PostgresqlBackend) -> None:
    for ready_at in (OLD, NEW):
        pushed(backend, ready_at=ready_at)
        assert len(claims(backend)) == 1
    pushed(backend, "between", ready_at=OLD + floors.SLACK)
    pushed(backend, "new", ready_at=NEW)
    assert [job.payload for job in claims(backend)] == ["new"]


@pytest.mark.usefixtures("slow")
def test_what_waits_behind_a_higher_priority_is_found_when_there_is_room(
    backend: PostgresqlBackend,
) -> None:
    pushed(backend, "behind", ready_at=OLD)
    for _ in range(3):
        pushed(backend, "first", priority=9, ready_at=NEW)
        assert claim(backend).payload == "first"
    pushed(backend, "first", priority=9, ready_at=NEW)
    assert [job.payload for job in claims(backend)] == ["first"]
    pushed(backend, "last", ready_at=NEW)
    assert [job.payload for job in claims(backend)] == ["behind", "last"]


@pytest.mark.usefixtures("slow")
def test_what_was_skipped_is_found_when_it_may_be_claimed(backend: PostgresqlBackend) -> None:
    pushed(backend, "skipped", task="print", ready_at=OLD)
    for _ in range(3):
        pushed(backend, "first", ready_at=NEW)
        [job] = backend.poll("w", {"mail": 5}, lease=60, skip_tasks=["print"])
        assert job.payload == "first"
    pushed(backend, "new", ready_at=NEW)
    assert [job.payload for job in claims(backend)] == ["skipped", "new"]
