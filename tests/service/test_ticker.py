from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from ferryman import BackendRejected, BackendUnavailable, Fail, Ferry
from ferryman.queue.open import open_backend
from ferryman.service import presentation
from ferryman.service.store import NoStoreYet, open_store
from ferryman.service.ticker import SHOWN, Ticker
from ferryman.testing import FakeClock, drain

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.queue.contract import Backend


class Flaky:
    """A real store behind a line that can be cut."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.error: Exception | None = None
        self.calls: list[str] = []

    @property
    def capabilities(self) -> Any:
        return self._backend.capabilities

    def __getattr__(self, verb: str) -> Any:
        if self.error is not None:
            raise self.error
        self.calls.append(verb)
        return getattr(self._backend, verb)


@pytest.fixture
def line(ferry: Ferry) -> Flaky:
    return Flaky(ferry.backend)


@pytest.fixture
def ticker(line: Flaky, clock: FakeClock) -> Ticker:
    return Ticker(lambda: cast("Backend", line), clock.monotonic)


def complete(ferry: Ferry, count: int) -> None:
    if ferry.tasks.get("fine") is None:

        @ferry.task(name="fine", queue="mail")
        def fine() -> None: ...

    for _ in range(count):
        ferry.push("fine")
    drain(ferry)


def fail(ferry: Ferry, *ids: str) -> None:
    if ferry.tasks.get("explode") is None:

        @ferry.task(name="explode", queue="bad")
        def explode() -> None:
            raise Fail("no")

    for job_id in ids:
        ferry.push("explode", id=job_id)
    drain(ferry)


def test_rates_are_completions_since_the_tick_before(
    ferry: Ferry, ticker: Ticker, clock: FakeClock
) -> None:
    complete(ferry, 3)
    first = ticker.tick()
    assert (first.rates, first.rate) == ({}, None)
    complete(ferry, 4)
    ferry.push("other")
    clock.advance(2)
    second = ticker.tick()
    assert second.rates == {"mail": 2.0, "other": 0.0}
    assert second.rate == 2.0


def test_without_time_between_two_ticks_there_is_no_rate(ferry: Ferry, ticker: Ticker) -> None:
    complete(ferry, 1)
    ticker.tick()
    assert ticker.tick().rate is None


def test_a_rate_is_unknown_after_a_prune(ferry: Ferry, ticker: Ticker, clock: FakeClock) -> None:
    complete(ferry, 3)
    clock.advance(2 * 86_400)
    ferry.push("mail")
    ticker.tick()
    ferry.backend.prune(older_than=86_400)
    clock.advance(1)
    assert ticker.tick().rates == {}


def test_the_latest_failures_come_first(ferry: Ferry, ticker: Ticker, clock: FakeClock) -> None:
    assert ticker.tick().failures == ()
    fail(ferry, *(f"job-{number}" for number in range(SHOWN + 2)))
    clock.advance(5)
    ferry.backend.retry(["job-1"])
    drain(ferry)
    shown = [job.id for job in ticker.tick().failures]
    assert shown[0] == "job-1"
    assert len(shown) == SHOWN


def test_failures_are_looked_for_only_when_there_are_new_ones(
    ferry: Ferry, ticker: Ticker, line: Flaky
) -> None:
    ticker.tick()
    assert "list" not in line.calls
    fail(ferry, "a")
    assert [job.id for job in ticker.tick().failures] == ["a"]
    line.calls.clear()
    assert [job.id for job in ticker.tick().failures] == ["a"]
    assert "list" not in line.calls
    ferry.backend.delete(["a"])
    assert ticker.tick().failures == ()


def test_a_store_that_cannot_be_browsed_shows_no_failures(
    ferry: Ferry, ticker: Ticker, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(ferry, "a")
    poor = replace(ferry.backend.capabilities, browse=False)
    monkeypatch.setattr(Flaky, "capabilities", poor)
    assert ticker.tick().failures == ()


def test_an_outage_is_shown_with_its_length_and_what_was_seen_before(
    ferry: Ferry, ticker: Ticker, line: Flaky, clock: FakeClock
) -> None:
    complete(ferry, 1)
    before = ticker.tick().seen
    line.error = BackendUnavailable("no route to db://ann:geheim@h")
    assert ticker.tick().out_for == 0.0
    clock.advance(12)
    out = ticker.tick()
    assert (out.seen, out.out_for, out.rates) == (before, 12.0, {})
    assert out.outage == "no route to db://ann:***@h"
    assert presentation.tick(out)["outage"] == out.outage
    line.error = None
    complete(ferry, 1)
    back = ticker.tick()
    assert (back.outage, back.rates) == (None, {})
    clock.advance(1)
    assert ticker.tick().rates == {"mail": 0.0}


def test_a_store_that_is_down_from_the_start_is_waited_for(line: Flaky, ticker: Ticker) -> None:
    line.error = BackendUnavailable("starting")
    out = ticker.tick()
    assert (out.seen, out.outage) == (None, "starting")
    assert presentation.tick(out)["queues"] is None
    line.error = None
    assert ticker.tick().seen is not None


def test_a_store_that_refuses_from_the_start_is_an_error(line: Flaky, ticker: Ticker) -> None:
    line.error = BackendRejected("not ours")
    with pytest.raises(BackendRejected, match="not ours"):
        ticker.tick()


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    url = f"sqlite:///{path}"
    ticker = Ticker(lambda: open_store(url, create=False))
    with pytest.raises(NoStoreYet):
        ticker.tick()
    open_backend(url).close()
    assert ticker.tick().outage is None
    path.rename(tmp_path / "moved.db")
    for _ in range(2):
        assert ticker.tick().outage is not None
    (tmp_path / "moved.db").rename(path)
    assert ticker.tick().outage is None
    ticker.close()
