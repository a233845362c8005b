"""Lists and counts by queue, task and state are found by indexes, and are those of a whole look."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import InvalidFilter
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.message import Message
from ferryman.queue.counting import Counting
from ferryman.queue.open import open_backend
from ferryman.testing.conformance.given import ack, claims, in_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.job import Job
    from ferryman.queue.contract import Backend

WHERES = [
    "queue:mail",
    "queue:rare",
    "queue:nowhere",
    "task:send",
    "task:rare",
    "-task:send",
    "state:completed",
    "state:failed,cancelled",
    "-state:pending",
    "state:paused",
    "state:processing queue:mail",
    "queue:mail,rare state:pending",
    "state:pending",
    "state:pending task:send",
    "queue:mail task:send state:completed",
    "state:completed state:failed",
    "state:failed finished:<1h",
    "state:failed,failed finished:<1h",
    "state:failed,cancelled finished:<1h queue:mail",
    "correlation_id:same",
    "meta.user:ada",
    "key:k1",
    "worker:nobody",
]


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'jobs.db'}"
    else:
        url = request.getfixturevalue("postgres_url")
    backend = open_backend(url)
    _fill(backend)
    yield backend
    backend.close()


@pytest.fixture(params=["index", "too many lines"])
def close(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest jobs are not enough, so that the indexes are asked; or have too many lines."""
    for place in ("sqlite", "postgresql"):
        monkeypatch.setattr(f"ferryman.backends.{place}.browse.CLOSE", 2)
        monkeypatch.setattr("ferryman.backends.sqlite.named.CLOSE", 2)
        monkeypatch.setattr("ferryman.backends.postgresql.named._CLOSE", 2)
        if request.param == "too many lines":
            monkeypatch.setattr(f"ferryman.backends.{place}.named.MOST_LINES", 1)


@pytest.mark.usefixtures("close")
def test_pages_are_those_of_a_look_at_every_job(backend: Backend) -> None:
    jobs, now = _all(backend), backend.clock.now()
    for query in map(Filter.parse, WHERES):
        expected = [job.id for job in jobs if query.matches(job, now)]
        for limit in (1, 3, 100):
            assert _paged(backend, query, limit) == expected, query


def test_counts_are_those_of_a_look_at_every_job(backend: Backend) -> None:
    jobs = _all(backend)
    assert isinstance(backend, Counting)
    for query in (one for one in map(Filter.parse, WHERES) if one.by_name):
        matching = Counter(job.state for job in jobs if query.matches(job, 0.0))
        for most in (2, 100):
            counted = backend.count(query, most)
            assert counted is not None
            expected = {state: min(most, n) for state, n in matching.items()}
            assert {state: n for state, n in counted.items() if n} == expected, query


def test_what_no_index_tells_is_not_counted(backend: Backend) -> None:
    assert isinstance(backend, Counting)
    assert backend.count(Filter.parse("payload.a:1"), 10) is None
    assert backend.count(Filter(), 10) is None


def test_a_page_after_nonsense_is_refused(backend: Backend) -> None:
    with pytest.raises(InvalidFilter):
        backend.list(Filter.parse("queue:mail"), after="nonsense")


def _fill(backend: Backend) -> None:
    pairs = (("mail", "send"), ("mail", "rare"), ("rare", "send"))
    for queue, task in pairs:
        for state in set(State) - {State.PENDING}:
            in_state(backend, state, queue=queue, task=task)
    for queue, task in pairs:
        backend.push([Message.of(queue, task, 1), Message.of(queue, task, 2, delay=600)])
    backend.push([Message.of("mail", "send", n, correlation_id="same") for n in range(5)])
    backend.push([Message.of("mail", "send", 1, meta={"user": "ada"}, key="k1")])
    backend.settle([ack(job) for job in claims(backend, 3, queue="mail")])


def _paged(backend: Backend, query: Filter, limit: int) -> list[str]:
    found: list[str] = []
    page = backend.list(query, limit=limit)
    while True:
        found += [job.id for job in page.jobs]
        assert len(page.jobs) == limit or page.next is None
        if page.next is None:
            return found
        page = backend.list(query, limit=limit, after=page.next)


def _all(backend: Backend) -> list[Job]:
    return list(backend.list(Filter(), limit=1_000).jobs)
