"""Searches and counts end in time: what no index finds is looked at job by job, and it is said."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from ferryman.filter import Filter
from ferryman.job import State
from ferryman.queue.open import open_backend
from ferryman.service import search
from ferryman.service.search import MOST_COUNTED, Search
from ferryman.testing.conformance.given import in_state, several

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.answers import Page
    from ferryman.queue.contract import Backend


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    backend = open_backend(f"sqlite:///{tmp_path / 'jobs.db'}")
    yield backend
    backend.close()


@pytest.mark.parametrize(
    "where", ["worker:nobody", "priority:5", "age:>1h", "payload.a:1", "nothing", "tenant:none"]
)
def test_a_filter_without_an_index_says_how_many_jobs_it_looked_at(
    backend: Backend, where: str
) -> None:
    several(backend, 5)
    found = Search(backend).find(Filter.parse(where), limit=10)
    assert (found.jobs, found.scanned, found.complete) == ([], 5, True)


@pytest.mark.parametrize(
    "where",
    ["state:failed age:<1h", "state:failed finished:>1h", "state:failed finished:<1h queue:a"],
)
def test_what_ended_badly_is_the_stores_to_find_by_its_end_alone(
    backend: Backend, where: str
) -> None:
    assert Search(backend).find(Filter.parse(where), limit=10).scanned == 0


@pytest.mark.parametrize(
    "where", ["queue:mail", "task:send", "state:failed finished:<1h", "key:k worker:nobody"]
)
def test_a_filter_with_an_index_is_the_stores_to_answer(backend: Backend, where: str) -> None:
    several(backend, 5)
    assert Search(backend).find(Filter.parse(where), limit=10).scanned is None


def test_a_search_whose_time_is_up_goes_on_where_it_stopped(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LOOK", 2)
    several(backend, 5)
    ticks = count(step=10)
    hurried = Search(backend, lambda: float(next(ticks)))
    first = hurried.find(Filter.parse("worker:nobody"), limit=10)
    assert (first.scanned, first.complete) == (2, False)
    second = hurried.find(Filter.parse("worker:nobody"), limit=10, after=first.next)
    third = hurried.find(Filter.parse("worker:nobody"), limit=10, after=second.next)
    assert (third.scanned, third.complete, third.next) == (1, True, None)


def test_jobs_that_leave_while_a_page_is_taken_hide_none_of_the_others(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = several(backend, 10)
    backend.cancel(several(backend, 1))
    list_jobs, lists = backend.list, count(1)

    def moving(where: Filter, *, limit: int = 50, after: str | None = None) -> Page:
        if next(lists) == 2:
            backend.cancel(ids[3:])
        return list_jobs(where, limit=limit, after=after)

    monkeypatch.setattr(backend, "list", moving)
    where = Filter.parse("state:pending attempts:0")
    found = Search(backend).find(where, limit=5)
    assert [job.id for job in found.jobs] == ids[::-1]
    assert found.next is None


def test_a_count_by_names_is_the_stores_and_says_where_it_stopped(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    several(backend, 3, task="send")
    in_state(backend, State.CANCELLED, task="send")
    counted = Search(backend).count(Filter.parse("task:send"))
    assert counted.states == {State.PENDING: 3, State.CANCELLED: 1}
    assert not counted.more
    assert MOST_COUNTED == 10_000
    monkeypatch.setattr(search, "MOST_COUNTED", 2)
    counted = Search(backend).count(Filter.parse("task:send"))
    assert (counted.states[State.PENDING], counted.more) == (2, True)
    assert not Search(backend).count(Filter.parse("task:send"), patient=True).more
