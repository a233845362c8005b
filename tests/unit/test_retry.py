from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.errors import InvalidMessage
from ferryman.retry import DEFAULT_BACKOFF, Backoff

BACKOFFS = st.builds(
    Backoff,
    base=st.floats(0, 1e8),
    factor=st.floats(1, 100),
    cap=st.floats(0, 1e8),
    jitter=st.floats(0, 1),
)


def test_the_default_is_two_seconds_doubled_up_to_ten_minutes_within_a_tenth() -> None:
    middle = [DEFAULT_BACKOFF.delay(attempt, roll=0.5) for attempt in range(1, 12)]
    assert middle == [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
    assert DEFAULT_BACKOFF.delay(1, roll=0.0) == pytest.approx(1.8)
    assert DEFAULT_BACKOFF.delay(1, roll=1.0) == pytest.approx(2.2)


def test_jitter_never_goes_over_the_cap() -> None:
    assert DEFAULT_BACKOFF.delay(50, roll=1.0) == 600.0


@pytest.mark.parametrize("attempt", [1, 150, 151, 1_000, 10**6])
@given(backoff=BACKOFFS, roll=st.floats(0, 1))
def test_a_delay_is_never_negative_and_never_over_the_cap(
    attempt: int, backoff: Backoff, roll: float
) -> None:
    assert 0 <= backoff.delay(attempt, roll) <= backoff.cap


def test_the_largest_policy_does_not_overflow_at_attempt_one_million() -> None:
    largest = Backoff(base=3.1e8, factor=100, cap=3.1e8, jitter=1)
    assert largest.delay(10**6, roll=0.5) == 3.1e8


@given(BACKOFFS, st.integers(1, 20))
def test_chance_stays_within_the_bounds(backoff: Backoff, attempt: int) -> None:
    low, high = backoff.delay(attempt, roll=0.0), backoff.delay(attempt, roll=1.0)
    assert low <= backoff.delay(attempt) <= high


def test_without_jitter_there_is_no_chance() -> None:
    steady = Backoff(base=1, factor=3, cap=100, jitter=0)
    assert [steady.delay(attempt) for attempt in (1, 2, 3, 4, 5, 6)] == [1, 3, 9, 27, 81, 100]


@given(BACKOFFS)
def test_a_policy_survives_its_text_form(backoff: Backoff) -> None:
    assert Backoff.parse(backoff.text()) == backoff


def test_the_default_policy_has_no_text() -> None:
    assert DEFAULT_BACKOFF.text() is None
    assert Backoff.parse(None) is DEFAULT_BACKOFF


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"base": -1}, "backoff.base"),
        ({"base": float("nan")}, "backoff.base"),
        ({"base": True}, "backoff.base"),
        ({"cap": -1}, "backoff.cap"),
        ({"cap": float("inf")}, "backoff.cap"),
        ({"factor": 0.5}, "backoff.factor"),
        ({"factor": 101}, "backoff.factor"),
        ({"factor": float("nan")}, "backoff.factor"),
        ({"jitter": -0.1}, "backoff.jitter"),
        ({"jitter": 1.1}, "backoff.jitter"),
        ({"jitter": float("nan")}, "backoff.jitter"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(options: dict[str, float], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Backoff(**options)
    assert refused.value.field == field
