from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.errors import InvalidFilter
from ferryman.filter import MAX_LENGTH, MAX_TERMS, Filter, Term
from ferryman.job import Job, State

NOW = 1_800_000_000.0


def job(**changes: Any) -> Job:
    options: dict[str, Any] = {
        "id": "a",
        "queue": "mail",
        "task": "send",
        "body": '{"user":{"id":42,"name":"Zoë"},"tags":["x","y"],"ok":true,"none":null}',
        "state": State.FAILED,
        "priority": 5,
        "ready_at": NOW,
        "seq": 1,
        "version": 1,
        "attempts": 3,
        "max_attempts": 5,
        "fence": 3,
        "generation": 1,
        "given_back": 0,
        "created_at": NOW - 7_200,
        "finished_at": NOW - 60,
        "worker": "host-1",
        "key": "k",
        "correlation_id": "request-1",
        "meta": {"user_id": "42"},
        "error": "Timeout after 30 s",
    }
    return Job(**{**options, **changes})


def matches(text: str, **changes: Any) -> bool:
    return Filter.parse(text).matches(job(**changes), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        'state:failed queue:mail error:"Timeout" payload.user.id:42 age:>1h',
        "id:a",
        "state:failed",
        "state:pending,failed",
        "queue:mail,post",
        "task:send",
        "worker:host-1",
        "key:k",
        "correlation_id:request-1",
        "priority:5",
        "priority:4,5",
        "priority:>4",
        "priority:>=5",
        "priority:<6",
        "priority:<=5",
        "attempts:3",
        "generation:1",
        "version:1",
        "fence:>2",
        "age:>1h",
        "age:>=2h",
        "age:<1d",
        "age:<=7200s",
        "age:>1.5h",
        "age:>119m",
        "age:<1w",
        "age:>7199",
        "finished:<2m",
        "error:timeout",
        'error:"AFTER 30"',
        "payload.user.name:Zoë",
        "payload.tags.1:y",
        "payload.ok:true",
        "meta.user_id:42",
        "timeout",
        "SEND",
        "request-1",
        '"after 30"',
        "-state:completed",
        "-payload.user.id:43",
        "-payload.none:null",
        "-payload.tags:x",
        "-payload.user.id.deeper:1",
        "-payload.tags.9:x",
        "-meta.other:42",
        "-age:>3h",
        "-nowhere",
    ],
)
def test_the_job_is_found_by(text: str) -> None:
    assert matches(text)


@pytest.mark.parametrize(
    "text",
    [
        "id:A",
        "state:pending",
        "-state:failed",
        "queue:mai",
        "priority:>5",
        "priority:<5",
        "age:<1h",
        "finished:>1h",
        "error:refused",
        "payload.user.id:4",
        "payload.none:null",
        "meta.user_id:4",
        "state:failed queue:post",
        "nowhere",
    ],
)
def test_the_job_is_not_found_by(text: str) -> None:
    assert not matches(text)


def test_a_job_that_has_not_finished_has_no_finished_age() -> None:
    assert not matches("finished:>0s", finished_at=None)
    assert not matches("finished:<9w", finished_at=None)


def test_a_job_without_an_error_has_no_words_in_it() -> None:
    assert not matches("error:timeout", error=None)


def test_quotes_keep_spaces_commas_and_quotes_together() -> None:
    assert Filter.parse(r'queue:"a b","c,d","say \"hi\""').terms == (
        Term("queue", "is", ("a b", "c,d", 'say "hi"')),
    )


def test_a_value_may_hold_colons_and_dashes() -> None:
    assert Filter.parse("id:a:b-c worker:-x").terms == (
        Term("id", "is", ("a:b-c",)),
        Term("worker", "is", ("-x",)),
    )


def test_every_kind_of_term_is_read() -> None:
    assert Filter.parse(
        "-state:failed priority:>=5 age:<30m payload.a.b:1 meta.c:2 word"
    ).terms == (
        Term("state", "is", ("failed",), negated=True),
        Term("priority", ">=", (5.0,)),
        Term("age", "<", (1_800.0,)),
        Term("payload", "is", ("1",), path=("a", "b")),
        Term("meta", "is", ("2",), path=("c",)),
        Term("text", "has", ("word",)),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("colour:red", "unknown field 'colour': use age, attempts, .*worker"),
        ("state:lost", "state:lost: use pending, .*paused"),
        ("state:FAILED", "state:FAILED: use pending"),
        ("state:,", "cannot read the filter"),
        ("age:1h", "write age:>1h or age:<30m"),
        ("age:>", "write age:>1h"),
        ("age:>1x", "write a number with s, m, h, d or w"),
        ("age:>-1h", "write a number"),
        ("age:>1h,2h", "write a number"),
        ("finished:soon", "write finished:>1h"),
        ("priority:high", "must be a whole number"),
        ("priority:1.5", "must be a whole number"),
        ("priority:>x", "must be a whole number"),
        ("payload:1", r"payload: write payload\.<name>:<value>"),
        ("payload.:1", r"write payload\.<name>"),
        ("payload.a..b:1", r"write payload\.<name>"),
        ("meta:1", r"write meta\.<name>"),
        ("meta.a.b:1", r"write meta\.<name>"),
        ("state.x:failed", "only payload and meta have parts"),
        ('error:"open', "cannot read the filter at"),
        ('"', "cannot read the filter at"),
    ],
)
def test_a_mistake_is_explained(text: str, problem: str) -> None:
    with pytest.raises(InvalidFilter, match=problem):
        Filter.parse(text)


def test_what_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidFilter, match="a lone surrogate, which is not text"):
        Filter.parse('key:"\udcff"')


def test_a_filter_has_a_length_limit() -> None:
    assert len(Filter.parse("x" * MAX_LENGTH).terms) == 1
    with pytest.raises(InvalidFilter, match=f"at most {MAX_LENGTH}"):
        Filter.parse("x" * (MAX_LENGTH + 1))


def test_a_filter_has_a_limit_of_terms() -> None:
    assert len(Filter.parse("x " * MAX_TERMS).terms) == MAX_TERMS
    with pytest.raises(InvalidFilter, match=f"at most {MAX_TERMS}"):
        Filter.parse("x " * (MAX_TERMS + 1))


HOSTILE = [
    '"' * MAX_LENGTH,
    '"a' * (MAX_LENGTH // 2),
    '"' + "\\" * (MAX_LENGTH - 1),
    '"\\"' * (MAX_LENGTH // 3),
    "," * MAX_LENGTH,
    ',"' * (MAX_LENGTH // 2),
    "-" * MAX_LENGTH,
    "a." * (MAX_LENGTH // 2),
    "a" * (MAX_LENGTH - 1) + '"',
    "payload." + "a." * 900 + "b:1",
    "age:>" + "9" * 1_900,
    'queue:"' + "x\\" * 900 + '"',
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:8])
def test_hostile_text_is_read_or_refused_in_no_time(text: str) -> None:
    started = time.thread_time()
    with contextlib.suppress(InvalidFilter):
        Filter.parse(text).matches(job(), NOW)
    assert time.thread_time() - started < 0.5


@given(st.text(st.sampled_from('abc:.,-<>="\\ \t\n09é'), max_size=60))
def test_any_text_is_a_filter_or_an_invalid_filter(text: str) -> None:
    with contextlib.suppress(InvalidFilter):
        Filter.parse(text).matches(job(), NOW)


@pytest.mark.parametrize("text", ["state:", 'payload."a b":1', 'error:"open', "task:a,", "a,,b"])
def test_half_written_terms_are_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(InvalidFilter):
        Filter.parse(text)


def test_a_number_of_absurd_length_is_refused() -> None:
    with pytest.raises(InvalidFilter, match="whole number"):
        Filter.parse("priority:" + "9" * 1_900)


@pytest.mark.parametrize("body", ["[" * 5_000 + "]" * 5_000, "9" * 5_000, "{"])
def test_a_payload_that_nobody_can_read_matches_no_value_and_stops_no_search(body: str) -> None:
    assert not Filter.parse("payload.user.id:42").matches(job(body=body), NOW)
    assert Filter.parse("-payload.user.id:42").matches(job(body=body), NOW)
