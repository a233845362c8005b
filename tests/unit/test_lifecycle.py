"""The transition table of the design, row by row."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from ferryman.errors import NotAllowed
from ferryman.job import TERMINAL, State
from ferryman.lifecycle import MAX_GIVEN_BACK, Act, Landing, Verdict, act, land

if TYPE_CHECKING:
    from ferryman.job import Ask

CHARGED = (Verdict.NACK, Verdict.EXPIRE)
ASKS: tuple[Ask | None, ...] = (None, "cancel", "pause")


def after(
    verdict: Verdict,
    *,
    asked: Ask | None = None,
    attempts: int = 1,
    max_attempts: int = 5,
    given_back: int = 0,
) -> Landing:
    return land(
        verdict,
        asked=asked,
        attempts=attempts,
        max_attempts=max_attempts,
        given_back=given_back,
    )


def test_an_acked_job_is_completed_and_hands_over() -> None:
    assert after(Verdict.ACK) == Landing(State.COMPLETED, charged=True, hands_over=True)


def test_an_acked_job_that_was_asked_to_cancel_is_cancelled_and_hands_nothing_over() -> None:
    assert after(Verdict.ACK, asked="cancel") == Landing(State.CANCELLED)


def test_an_acked_job_that_was_asked_to_pause_is_completed() -> None:
    assert after(Verdict.ACK, asked="pause") == Landing(State.COMPLETED, hands_over=True)


@pytest.mark.parametrize("verdict", CHARGED)
def test_an_error_with_attempts_left_returns_the_job_charged(verdict: Verdict) -> None:
    assert after(verdict, attempts=4, max_attempts=5) == Landing(State.PENDING, charged=True)


@pytest.mark.parametrize("verdict", CHARGED)
def test_an_error_at_the_last_attempt_fails_the_job(verdict: Verdict) -> None:
    assert after(verdict, attempts=5, max_attempts=5) == Landing(State.FAILED)


@pytest.mark.parametrize("verdict", CHARGED)
def test_an_error_after_a_cancel_was_asked_cancels_the_job(verdict: Verdict) -> None:
    assert after(verdict, asked="cancel") == Landing(State.CANCELLED)


@pytest.mark.parametrize("verdict", CHARGED)
def test_an_error_after_a_pause_was_asked_pauses_the_job(verdict: Verdict) -> None:
    assert after(verdict, asked="pause") == Landing(State.PAUSED)


@pytest.mark.parametrize("verdict", CHARGED)
def test_a_pause_cannot_save_the_last_attempt(verdict: Verdict) -> None:
    assert after(verdict, asked="pause", attempts=5) == Landing(State.FAILED)


@pytest.mark.parametrize("asked", ASKS)
def test_a_handler_that_says_fail_fails_the_job_with_attempts_left(asked: Ask | None) -> None:
    assert after(Verdict.FAIL, asked=asked) == Landing(State.FAILED)


@pytest.mark.parametrize("asked", ASKS)
def test_a_handler_that_says_cancel_cancels_the_job(asked: Ask | None) -> None:
    assert after(Verdict.CANCEL, asked=asked) == Landing(State.CANCELLED)


def test_a_given_back_job_is_pending_and_not_charged() -> None:
    assert after(Verdict.GIVE_BACK) == Landing(State.PENDING, charged=False)


def test_a_given_back_job_at_its_last_attempt_is_still_not_charged() -> None:
    assert after(Verdict.GIVE_BACK, attempts=5) == Landing(State.PENDING, charged=False)


def test_a_job_given_back_a_thousand_times_fails() -> None:
    assert MAX_GIVEN_BACK == 1_000
    assert after(Verdict.GIVE_BACK, given_back=998).state is State.PENDING
    assert after(Verdict.GIVE_BACK, given_back=999) == Landing(State.FAILED, charged=False)


def test_a_job_that_stops_because_a_pause_was_asked_is_paused_and_not_charged() -> None:
    assert after(Verdict.GIVE_BACK, asked="pause") == Landing(State.PAUSED, charged=False)


def test_a_job_that_stops_because_a_cancel_was_asked_is_cancelled_and_not_charged() -> None:
    assert after(Verdict.GIVE_BACK, asked="cancel") == Landing(State.CANCELLED, charged=False)


def test_only_a_completed_job_hands_over() -> None:
    for verdict, asked, attempts in itertools.product(Verdict, ASKS, (1, 5)):
        landing = after(verdict, asked=asked, attempts=attempts)
        assert landing.hands_over is (landing.state is State.COMPLETED)


def test_only_a_given_back_claim_is_not_charged() -> None:
    for verdict, asked, attempts in itertools.product(Verdict, ASKS, (1, 5)):
        landing = after(verdict, asked=asked, attempts=attempts)
        assert landing.charged is (verdict is not Verdict.GIVE_BACK)


def test_no_claim_ends_in_processing() -> None:
    for verdict, asked, attempts in itertools.product(Verdict, ASKS, (1, 5)):
        assert after(verdict, asked=asked, attempts=attempts).state is not State.PROCESSING


# -- what operators do

ALLOWED = {
    (State.PENDING, Act.PAUSE): State.PAUSED,
    (State.PENDING, Act.CANCEL): State.CANCELLED,
    (State.PENDING, Act.DELETE): State.PENDING,
    (State.PROCESSING, Act.PAUSE): State.PROCESSING,
    (State.PROCESSING, Act.CANCEL): State.PROCESSING,
    (State.PAUSED, Act.RESUME): State.PENDING,
    (State.PAUSED, Act.CANCEL): State.CANCELLED,
    (State.PAUSED, Act.DELETE): State.PAUSED,
    (State.COMPLETED, Act.RETRY): State.PENDING,
    (State.COMPLETED, Act.DELETE): State.COMPLETED,
    (State.FAILED, Act.RETRY): State.PENDING,
    (State.FAILED, Act.DELETE): State.FAILED,
    (State.CANCELLED, Act.RETRY): State.PENDING,
    (State.CANCELLED, Act.DELETE): State.CANCELLED,
}
REFUSED = [pair for pair in itertools.product(State, Act) if pair not in ALLOWED]


@pytest.mark.parametrize(("state", "verb"), ALLOWED)
def test_an_act_that_the_table_names_leads_where_it_says(state: State, verb: Act) -> None:
    assert act(state, verb, "a") is ALLOWED[state, verb]


@pytest.mark.parametrize(("state", "verb"), REFUSED)
def test_every_other_act_is_refused_with_the_job_its_state_and_the_reason(
    state: State, verb: Act
) -> None:
    with pytest.raises(NotAllowed, match=rf"^job 'a' is {state}: \w+ .+"):
        act(state, verb, "a")


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_only_retry_leads_out_of_a_terminal_state(state: State) -> None:
    for verb in set(Act) - {Act.RETRY, Act.DELETE}:
        with pytest.raises(NotAllowed):
            act(state, verb, "a")


def test_the_three_ends_are_terminal() -> None:
    assert {state for state in State if state.terminal} == {
        State.COMPLETED,
        State.FAILED,
        State.CANCELLED,
    }
