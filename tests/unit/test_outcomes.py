from __future__ import annotations

from typing import Any

import pytest

from ferryman.errors import InvalidMessage
from ferryman.outcomes import Cancel, Fail, Outcome, Retry, Snooze
from ferryman.retry import Backoff

STEADY = Backoff(base=7, factor=1, jitter=0)


def test_outcomes_are_exceptions_of_one_kind() -> None:
    said = [Snooze(60), Fail("why"), Cancel("why"), Retry(after=3)]
    assert all(isinstance(each, Outcome) for each in said)


def test_outcomes_are_also_caught_by_except_exception() -> None:
    assert issubclass(Outcome, Exception)


def test_an_outcome_tells_its_reason() -> None:
    assert str(Fail("no such page")) == "no such page"
    assert str(Cancel("not wanted")) == "not wanted"
    assert str(Snooze(60, "quota")) == "quota"
    assert str(Retry(after=3, reason="busy")) == "busy"


def test_an_outcome_without_a_reason_has_one() -> None:
    assert all(str(each) for each in (Snooze(60), Fail(), Cancel(), Retry()))


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), True, "60"])
def test_a_snooze_of_nonsense_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidMessage, match="seconds"):
        Snooze(seconds)


@pytest.mark.parametrize("after", [-1, float("nan"), True])
def test_a_retry_after_nonsense_is_refused(after: float) -> None:
    with pytest.raises(InvalidMessage, match=r"retry\.after"):
        Retry(after=after)


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5, 10**7])
def test_a_policy_needs_at_least_one_attempt(attempts: int) -> None:
    with pytest.raises(InvalidMessage, match=r"retry\.max_attempts"):
        Retry(attempts)


def test_a_policy_has_the_defaults_of_the_design() -> None:
    policy = Retry()
    assert (policy.max_attempts, policy.backoff, policy.after) == (5, Backoff(), None)


def test_a_policy_decides_by_its_backoff() -> None:
    assert Retry(5, base=1, factor=2, jitter=0).decide(ValueError(), 3) == 4.0


def test_a_rule_gives_its_own_number_of_seconds() -> None:
    assert Retry(rules={TimeoutError: 30}).decide(TimeoutError(), 1) == 30.0


def test_a_rule_gives_its_own_backoff() -> None:
    assert Retry(rules={TimeoutError: STEADY}).decide(TimeoutError(), 9) == 7.0


def test_a_rule_can_fail_at_once() -> None:
    assert Retry(rules={KeyError: Fail}).decide(KeyError("x"), 1) is None


def test_the_first_rule_that_matches_decides() -> None:
    policy = Retry(rules={KeyError: 1, LookupError: 2, Exception: Fail})
    assert policy.decide(KeyError(), 1) == 1.0
    assert policy.decide(IndexError(), 1) == 2.0
    assert policy.decide(OSError(), 1) is None


def test_an_error_that_no_rule_names_goes_by_the_backoff() -> None:
    policy = Retry(rules={KeyError: Fail}, base=7, factor=1, jitter=0)
    assert policy.decide(OSError(), 1) == 7.0


def test_a_policy_keeps_its_own_copy_of_the_rules() -> None:
    rules: dict[type[BaseException], float] = {KeyError: 1}
    policy = Retry(rules=rules)
    rules.clear()
    assert policy.decide(KeyError(), 1) == 1.0


@pytest.mark.parametrize("seconds", [-5.0, float("nan"), "soon"])
def test_a_rule_with_an_impossible_delay_is_refused(seconds: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"retry.rules\[OSError\]"):
        Retry(rules={OSError: seconds})
