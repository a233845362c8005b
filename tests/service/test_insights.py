from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman import InvalidFilter, JobNotFound, State, Unsupported
from ferryman.service.insights import Insights, QueueNotFound
from ferryman.service.workers import WorkerRow
from ferryman.worker.upkeep import WORKER_CELLS
from tests.service.faults import without_cells

if TYPE_CHECKING:
    from ferryman import Ferry
    from ferryman.testing import FakeClock


def show_worker(ferry: Ferry, name: str, **row: object) -> None:
    ferry.backend.write_cell(f"{WORKER_CELLS}{name}", json.dumps(row), expect=None, ttl=600)


def test_an_empty_store_has_no_queues_no_workers_and_zero_of_every_state(
    insights: Insights,
) -> None:
    seen = insights.overview()
    assert list(seen.queues) == []
    assert list(seen.workers or ()) == []
    assert seen.totals == dict.fromkeys(State, 0)


def test_the_overview_counts_by_queue_and_state_and_knows_scheduled_and_paused(
    ferry: Ferry, insights: Insights
) -> None:
    ferry.push("mail")
    ferry.push("mail", delay=60)
    ferry.push("crawl")
    ferry.backend.pause_queue("crawl")
    seen = insights.overview()
    assert [(q.queue, q.ready, q.scheduled, q.paused) for q in seen.queues] == [
        ("crawl", 1, 0, True),
        ("mail", 1, 1, False),
    ]
    assert seen.totals[State.PENDING] == 3
    assert seen.scheduled == 1


def test_a_job_is_found_by_its_id_and_nothing_else(ferry: Ferry, insights: Insights) -> None:
    handle = ferry.push("mail", {"to": "ann"})
    assert insights.job(handle.id).payload == {"to": "ann"}
    with pytest.raises(JobNotFound, match="never pushed here"):
        insights.job(handle.id[:12])


def test_pages_continue_where_the_one_before_ended(ferry: Ferry, insights: Insights) -> None:
    pushed = [ferry.push("mail", n).id for n in range(5)]
    first = insights.jobs("queue:mail", limit=2)
    second = insights.jobs("queue:mail", limit=3, after=first.next)
    assert [job.id for job in (*first.jobs, *second.jobs)] == pushed[::-1]
    assert second.next is None


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_page_has_from_one_to_a_thousand_jobs(insights: Insights, limit: int) -> None:
    with pytest.raises(InvalidFilter, match=r"from 1 to 1,000"):
        insights.jobs(limit=limit)


def test_a_walk_visits_every_match_once(ferry: Ferry, insights: Insights) -> None:
    wanted = {ferry.push("mail", n).id for n in range(7)}
    ferry.push("other")
    seen = [job.id for jobs in insights.walk("queue:mail") for job in jobs]
    assert len(seen) == 7
    assert set(seen) == wanted


def test_an_unknown_queue_is_named_with_the_closest_one(ferry: Ferry, insights: Insights) -> None:
    ferry.push("mail")
    with pytest.raises(QueueNotFound, match="did you mean 'mail'"):
        insights.queue("mial")


def test_a_worker_is_stale_once_it_missed_three_of_its_updates(
    ferry: Ferry, insights: Insights, clock: FakeClock
) -> None:
    show_worker(ferry, "a", heartbeat_at=clock.now(), lease=30.0, queues={"mail": 2}, running=1)
    assert [(row.id, row.stale, row.queues) for row in insights.workers()] == [
        ("a", False, {"mail": 2})
    ]
    clock.advance(31)
    assert [row.stale for row in insights.workers()] == [True]


def test_a_row_that_cannot_be_read_still_shows_that_a_worker_is_there(
    ferry: Ferry, insights: Insights
) -> None:
    ferry.backend.write_cell(f"{WORKER_CELLS}odd", "not json", expect=None, ttl=60)
    show_worker(ferry, "other", pid="x", queues=[1], lease=None)
    assert list(insights.workers()) == [WorkerRow("odd", True), WorkerRow("other", True)]


def test_a_store_without_cells_says_so_instead_of_showing_no_workers(ferry: Ferry) -> None:
    insights = Insights(without_cells(ferry.backend))
    assert insights.overview().workers is None
    with pytest.raises(Unsupported, match="keeps no rows about workers"):
        insights.workers()
