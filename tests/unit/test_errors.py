from __future__ import annotations

import inspect

import pytest

from ferryman import errors
from ferryman.errors import (
    BackendError,
    BackendRejected,
    BackendUnavailable,
    Conflict,
    FerrymanError,
    InvalidFilter,
    InvalidMessage,
    JobNotFound,
    LeaseLost,
    OutcomeUnknown,
    QueueFull,
    StillUnfinished,
)

EVERY = [each for _, each in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", EVERY)
def test_every_error_can_be_caught_as_a_ferryman_error(error: type[Exception]) -> None:
    assert issubclass(error, FerrymanError)


@pytest.mark.parametrize("error", EVERY)
def test_every_error_is_in_the_overview_of_the_module(error: type[Exception]) -> None:
    assert error.__name__ in (errors.__doc__ or "")


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidMessage, ValueError),
        (InvalidFilter, ValueError),
        (JobNotFound, LookupError),
        (StillUnfinished, TimeoutError),
    ],
)
def test_errors_of_a_common_kind_are_also_the_builtin_one(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, builtin)


def test_an_unknown_outcome_is_retried_like_an_outage() -> None:
    assert issubclass(OutcomeUnknown, BackendUnavailable)
    assert issubclass(BackendUnavailable, BackendError)


def test_a_refusal_for_good_is_not_retried() -> None:
    assert issubclass(BackendRejected, BackendError)
    assert not issubclass(BackendRejected, BackendUnavailable)


def test_an_invalid_message_names_the_field() -> None:
    error = InvalidMessage("delay", "must be zero or more")
    assert (str(error), error.field, error.problem) == (
        "delay: must be zero or more",
        "delay",
        "must be zero or more",
    )


def test_a_conflict_carries_the_ids() -> None:
    assert Conflict("taken", ids=("a", "b")).ids == ("a", "b")


def test_a_full_queue_says_when_to_come_back() -> None:
    error = QueueFull("mail", 100, 2.5)
    assert (error.queue, error.capacity, error.retry_after) == ("mail", 100, 2.5)
    assert str(error) == "queue 'mail' is full (100 jobs); retry in 2.5 s"


def test_a_missing_job_is_named() -> None:
    error = JobNotFound("24/7")
    assert error.job_id == "24/7"
    assert "'24/7'" in str(error)


def test_a_lost_lease_names_the_claim() -> None:
    error = LeaseLost("a", 3)
    assert (error.job_id, error.fence) == ("a", 3)
    assert "claim 3" in str(error)
