from __future__ import annotations

from ferryman.telemetry.outage import Outage
from ferryman.testing import FakeClock


def test_an_outage_is_news_once_and_ends_with_the_first_call_that_works_again() -> None:
    clock = FakeClock()
    outage = Outage(clock.monotonic)
    assert outage.called("poll", None) is None
    outage.called("poll", "BackendUnavailable")
    assert outage.begins()
    assert not outage.begins()
    clock.advance(90)
    assert outage.called("poll", None) == 90
    assert outage.called("poll", None) is None
    assert outage.begins()


def test_a_store_that_answers_polls_but_refuses_settlements_is_still_out() -> None:
    outage = Outage(FakeClock().monotonic)
    outage.called("settle", "BackendUnavailable")
    outage.begins()
    assert outage.called("poll", None) is None
    assert outage.called("settle", "OutcomeUnknown") is None
    assert not outage.begins()
    assert outage.called("settle", None) is not None


def test_a_wait_shows_that_polls_work_again() -> None:
    outage = Outage(FakeClock().monotonic)
    outage.called("wait", "BackendUnavailable")
    outage.begins()
    assert outage.called("poll", None) is not None


def test_a_read_that_failed_once_does_not_keep_the_outage_open() -> None:
    outage = Outage(FakeClock().monotonic)
    outage.called("get", "BackendUnavailable")
    outage.called("reap", "BackendUnavailable")
    outage.begins()
    assert outage.called("reap", None) is not None
