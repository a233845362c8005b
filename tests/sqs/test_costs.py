"""Every request is paid for: how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.queue.heartbeat import Beat
from ferryman.testing import wait_until
from ferryman.testing.conformance.given import ack, claims, several

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from tests.servers.line import Line
    from tests.servers.sqs_faults import Weather


@pytest.mark.parametrize("kept", ["ledger", "alone"])
def test_jobs_in_batches_cost_less_than_four_tenths_of_a_request_each(
    join: Callable[..., Backend], line: Line, weather: Weather, kept: str
) -> None:
    options = {"ledger": None} if kept == "alone" else {}
    store = join(at=line.address, **options)
    claims(store)
    weather.calls.clear()
    several(store, 200)
    left = 200
    while left:
        jobs = claims(store, 50)
        store.settle([ack(job) for job in jobs])
        left -= len(jobs)
    wait_until(lambda: weather.calls["DeleteMessageBatch"] == 20)
    assert weather.calls["SendMessageBatch"] == 20
    assert sum(weather.calls.values()) <= 0.4 * 200


@pytest.mark.parametrize("kept", ["ledger", "alone"])
def test_jobs_one_by_one_cost_three_requests_each(
    join: Callable[..., Backend], line: Line, weather: Weather, kept: str
) -> None:
    options = {"ledger": None} if kept == "alone" else {}
    store = join(at=line.address, **options)
    claims(store)
    weather.calls.clear()
    for _ in range(10):
        several(store, 1)
        store.settle([ack(job) for job in claims(store, 1)])
    wait_until(lambda: weather.calls.get("DeleteMessageBatch") == 10)
    assert sum(weather.calls.values()) == 30


def test_an_idle_worker_waits_with_one_request(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(at=line.address)
    claims(store)
    weather.calls.clear()
    for _ in range(10):
        assert store.wait(["mail"], 0.1) is False
    assert weather.calls == {"ReceiveMessage": 1}


def test_heartbeats_cost_nothing_where_a_ledger_keeps_the_leases(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    store = join(at=line.address)
    several(store, 20)
    jobs = claims(store)
    weather.calls.clear()
    store.heartbeat(jobs[0].worker or "", [Beat(job.id, job.fence) for job in jobs], lease=60)
    assert weather.calls == {}
