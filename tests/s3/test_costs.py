"""Requests of each verb, counted, and what the docs say about them and their price."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from tests.s3.nodes import LEASE, ack, poll, push, relaxed_node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferryman.backends.s3.strict import StrictBackend
    from ferryman.job import Job
    from tests.servers.shared import Server

DOCS: Final = Path(__file__).parent.parent.parent / "docs" / "backends" / "s3.md"
# AWS's list price in dollars for a million: PUT and LIST 0.005 for 1,000, GET 0.0004.
PRICE: Final = {"PUT": 5.0, "LIST": 5.0, "GET": 0.4, "DELETE": 0.0}
ROW: Final = re.compile(r"^\| \**([^|*]+?)\** \| ([^|]*(?:PUT|GET)[^|]*) \| \**([\d.]+)\** \|$")
ERROR: Final = JobError(1, 0.0, "w", "ValueError", "boom")


def documented() -> dict[str, tuple[dict[str, int], float]]:
    """What the docs say: requests by kind, those after a semicolon left out, and the price."""
    rows = filter(None, (ROW.match(line) for line in DOCS.read_text().splitlines()))
    return {
        name: (
            {
                kind: int(number)
                for number, kind in re.findall(r"(\d+) ([A-Z]+)", told.split(";")[0])
            },
            float(price),
        )
        for name, told, price in (row.groups() for row in rows)
    }


def spent(store: Any, act: Callable[[], object]) -> dict[str, int]:
    before = dict(store.requests)
    act()
    after: Mapping[str, int] = store.requests
    kinds = {kind.upper(): after[kind] - before.get(kind, 0) for kind in after}
    return {kind: number for kind, number in kinds.items() if number}


@pytest.fixture
def costs(join: Callable[..., StrictBackend]) -> dict[str, dict[str, int]]:
    """What each verb costs a node that has been running for a moment."""
    store = join("one")
    push(store, "first")
    assert ack(store, poll(store, limit=1)[0])
    jobs: list[Job] = []

    def end(verdict: Verdict, **report: Any) -> None:
        store.settle([Settlement.of(jobs.pop(), verdict, **report)])

    found = {"push": spent(store, lambda: push(store))}
    found["push with a key"] = spent(store, lambda: push(store, "keyed", key="k", delay=60))
    found["claim"] = spent(store, lambda: jobs.extend(poll(store, limit=1)))
    beat = [Beat("job", 1)]
    found["heartbeat"] = spent(store, lambda: store.heartbeat("w", beat, lease=LEASE))
    found["nack"] = spent(store, lambda: end(Verdict.NACK, error=ERROR, delay=0.0))
    jobs += poll(store, limit=1)
    found["ack"] = spent(store, lambda: end(Verdict.ACK))
    found["get"] = spent(store, lambda: store.get("job"))
    return found


def test_requests_are_as_documented(costs: dict[str, dict[str, int]]) -> None:
    told = {name.partition(",")[0]: requests for name, (requests, _) in documented().items()}
    assert costs == {name: told[name] for name in costs}


def test_a_job_that_succeeds_costs_the_sum_of_its_verbs() -> None:
    told = documented()
    verbs = [told[name][0] for name in ("push", "claim", "ack")]
    kinds = {kind: sum(verb.get(kind, 0) for verb in verbs) for kind in ("PUT", "GET", "DELETE")}
    assert told["a job that succeeds"][0] == kinds


def test_prices_follow_from_the_requests() -> None:
    told = documented()
    assert len(told) >= 9
    for name, (requests, price) in told.items():
        assert sum(PRICE[kind] * number for kind, number in requests.items()) == pytest.approx(
            price
        ), name


def test_a_relaxed_node_asks_the_bucket_for_little(
    ministack: Server, aws_settings: None, prefix: str, tmp_path: Path
) -> None:
    store = relaxed_node(ministack.address, prefix, tmp_path)
    push(store, "first")
    assert spent(store, lambda: push(store)) == {"PUT": 1}
    jobs: list[Job] = []
    assert spent(store, lambda: jobs.extend(poll(store))) == {}
    message = Message.of("mail", "send", "body", id="job")
    assert spent(store, lambda: store.push([message])) == {}
    assert spent(store, lambda: ack(store, jobs[0])) == {"GET": 2, "PUT": 1, "DELETE": 1}
    store.close()
