"""`ferryman breakers` and `ferryman rates`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferryman.flow.circuit import Phase
from ferryman.flow.flow import Flow

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.cli.conftest import Run


def fail(store: Ferry, name: str, times: int) -> None:
    for _ in range(times):
        with pytest.raises(OSError, match="down"), store.breaker(name):
            raise OSError("down\x1b[31m")


def test_breakers_are_listed_with_their_state_and_their_last_problem(
    run: Run, store: Ferry
) -> None:
    fail(store, "gemini", 5)
    fail(store, "archive.org", 2)
    closed, opened = json.loads(run("breakers", "list", "--json").stdout)["breakers"]
    assert (closed["name"], closed["state"], closed["failures"]) == ("archive.org", "closed", 2)
    assert (opened["name"], opened["state"], opened["failures"]) == ("gemini", "open", 5)
    assert opened["until"] > opened["changed_at"]
    header, first, second = run("breakers", "list").stdout.splitlines()
    assert header.split()[:3] == ["BREAKER", "STATE", "FAILURES"]
    assert first.split()[:3] == ["archive.org", "closed", "2"]
    assert second.split()[:3] == ["gemini", "open", "5"]
    assert "\x1b[31m" not in second


def test_a_breaker_is_reset(run: Run, store: Ferry) -> None:
    fail(store, "gemini", 5)
    assert run("breakers", "reset", "gemini").stdout == "gemini: closed, was open\n"
    assert store.breaker("gemini").phase() is Phase.CLOSED
    fail(store, "gemini", 1)
    answer = json.loads(run("breakers", "reset", "gemini", "--json").stdout)
    assert answer == {"breaker": "gemini", "was": "closed"}


def test_a_breaker_that_nobody_knows_cannot_be_reset(run: Run, store: Ferry) -> None:
    fail(store, "gemini", 1)
    assert "did you mean 'gemini'?" in run("breakers", "reset", "gemeni", code=3).stderr


def test_rates_show_what_is_left_and_who_runs(run: Run, store: Ferry) -> None:
    store.rate("gemini", ["15/m", "500/d"], zone="America/Los_Angeles").take(10)
    Flow(lambda: store.backend, store.events).permits("task:ask", 3, "w1").hold(2, 60)
    shown = json.loads(run("rates", "--json").stdout)
    assert [(r["name"], r["quota"], r["spent"], r["left"], r["zone"]) for r in shown["rates"]] == [
        ("gemini", "15/m", 10, 5, "America/Los_Angeles"),
        ("gemini", "500/d", 10, 490, "America/Los_Angeles"),
    ]
    assert shown["concurrency"] == [
        {"name": "task:ask", "limit": 3, "live": 2, "holders": {"w1": 2}}
    ]
    lines = run("rates").stdout.splitlines()
    assert lines[1].split()[:4] == ["gemini", "15/m", "10", "5"]
    assert lines[-1].split() == ["task:ask", "3", "2", "1"]


def test_a_store_without_limits_shows_none(run: Run, store: Ferry) -> None:
    assert json.loads(run("breakers", "list", "--json").stdout) == {"breakers": []}
    assert json.loads(run("rates", "--json").stdout) == {"rates": [], "concurrency": []}
