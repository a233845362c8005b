"""Metrics and history over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.job import State
from ferryman.queue.answers import Reaped
from ferryman.service.roles import Role
from ferryman.worker.rollup import Rollup
from tests.telemetry.scrape import Scraped

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.web.client import Client
    from tests.web.conftest import Visitors


def test_a_viewer_scrapes_the_store(ferry: Ferry, visitor: Visitors) -> None:
    ferry.push("mail")
    answer = visitor(Role.VIEWER).get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    seen = Scraped(answer.text.encode())
    assert seen["ferryman_jobs", "mail", "pending"] == 1
    assert seen["ferryman_jobs_pushed_total", "mail", "mail"] == 1


def test_metrics_are_closed_to_strangers_and_to_keys_for_some_queues(
    stranger: Client, visitor: Visitors
) -> None:
    assert stranger.get("/metrics").status == 401
    assert visitor(Role.VIEWER, "mail").get("/metrics").status == 403


def test_history_is_what_workers_ended(ferry: Ferry, admin: Client, visitor: Visitors) -> None:
    rollup = Rollup(ferry.backend, "one")
    for queue in ("mail", "mail", "secret"):
        rollup.add_reaped([Reaped("a", queue, "send", State.FAILED, "gone")])
    rollup.write()

    def failed(client: Client, queue: str | None = None) -> int:
        answer = client.get("/v1/history", queue=queue, hours=1).json
        assert (answer["step"], len(answer["buckets"])) == (300, 12)
        assert answer["buckets"][0]["run"] == {"p50": None, "p95": None, "p99": None}
        return sum(bucket["failed"] for bucket in answer["buckets"])

    assert (failed(admin), failed(admin, "mail"), failed(admin, "none")) == (3, 2, 0)
    confined = visitor(Role.VIEWER, "mail")
    assert (failed(confined), failed(confined, "mail")) == (2, 2)
    assert confined.get("/v1/history", queue="secret").status == 404
    assert admin.get("/v1/history", hours=25).status == 422
