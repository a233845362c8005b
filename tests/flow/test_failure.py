"""What exceptions of HTTP clients tell about when to come again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.message import Message
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest

from ferryman import QueueFull
from ferryman.flow.failure import Failure, retry_after

NOW = datetime(2027, 1, 15, 8, 0, tzinfo=UTC).timestamp()


def told(value: object) -> Exception:
    error = Exception("429")
    error.retry_after = value  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (30, 30.0),
        (1.5, 1.5),
        ("120", 120.0),
        (timedelta(minutes=2), 120.0),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        (datetime(2027, 1, 15, 8, 0, 5, tzinfo=UTC), 5.0),
        (10**12, 10 * 366 * 86_400.0),
    ],
)
def test_a_time_is_understood_in_all_its_forms(value: object, seconds: float) -> None:
    assert retry_after(told(value), NOW) == seconds


@pytest.mark.parametrize("value", [None, "", "soon", True, -1, float("nan"), float("inf"), [], {}])
def test_what_is_no_time_is_none(value: object) -> None:
    assert retry_after(told(value), NOW) is None


def test_the_header_of_a_response_is_read() -> None:
    error = Exception("429")
    error.response = SimpleNamespace(headers={"retry-after": "7"})  # type: ignore[attr-defined]
    assert retry_after(error, NOW) == 7.0


def test_the_header_of_an_error_of_the_standard_library_is_read() -> None:
    headers = Message()
    headers["Retry-After"] = "9"
    error = HTTPError("http://localhost", 429, "Too Many Requests", headers, None)
    assert retry_after(error, NOW) == 9.0
    error.close()


def test_a_queue_that_is_full_says_when_to_come_again() -> None:
    assert retry_after(QueueFull("mail", 10, 3.0), NOW) == 3.0


def test_a_failure_is_known_by_its_class_and_its_bases_even_after_a_journey() -> None:
    failure = Failure.of(ConnectionResetError("gone"), NOW)
    travelled = Failure.from_json(json.loads(json.dumps(failure.to_json())))
    assert travelled is not None
    assert travelled.is_a((OSError,))
    assert not travelled.is_a((ValueError,))
    assert (travelled.text, travelled.retry_after) == ("ConnectionResetError: gone", None)


def test_a_class_of_the_main_module_is_the_same_in_a_child() -> None:
    ours = type("Refused", (Exception,), {"__module__": "__main__"})
    childs = type("Refused", (Exception,), {"__module__": "__mp_main__"})
    assert Failure.of(childs("no"), 0.0).is_a((ours,))
