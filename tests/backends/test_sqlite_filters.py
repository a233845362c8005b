"""A filter in SQL finds exactly the jobs for which `Filter.matches` says yes."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.backends.sqlite import SqliteBackend, connect
from ferryman.filter import AGES, EXACT, NUMBERS, Filter, Term
from ferryman.job import JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.job import Job

WORDS = ("a", "É", "ß%", "_x", 'q"t', "0", "1", "user", "İstanbul", "TIMEOUT")
words = st.sampled_from(WORDS)
numbers = st.sampled_from((0, 1, -1, 2.0, 0.1, 1e300, 10**30, -0.0, 0.30000000000000004))
leaves = st.none() | st.booleans() | words | numbers | st.integers() | st.floats(allow_nan=False)
payloads = st.recursive(
    leaves.filter(lambda leaf: leaf not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
messages = st.builds(
    Message.of,
    st.sampled_from(("mail", "post")),
    words,
    payloads,
    priority=st.integers(-2, 2),
    version=st.integers(1, 2),
    key=st.none() | words,
    unique=st.just(1e-9),
    correlation_id=st.none() | words,
    meta=st.dictionaries(st.sampled_from(("user", "É")), words, max_size=2),
    max_attempts=st.just(2),
)
endings = st.sampled_from(("none", "claim", "ack", "nack", "fail", "cancel", "pause"))
values = words | st.sampled_from(("true", "false", "null", "0.1", "2.0", "1e+300", str(10**30)))
some_values = st.lists(values, min_size=1, max_size=3).map(tuple)
some_numbers = st.lists(st.integers(-2, 3).map(float), min_size=1, max_size=2).map(tuple)
paths = st.lists(words, min_size=1, max_size=3).map(tuple)
ops = st.sampled_from((">", ">=", "<", "<="))
terms = st.one_of(
    st.builds(Term, st.just("payload"), st.just("is"), some_values, st.booleans(), paths),
    st.builds(
        Term, st.just("meta"), st.just("is"), some_values, st.booleans(), paths.map(lambda p: p[:1])
    ),
    st.builds(Term, st.sampled_from(sorted(NUMBERS)), ops | st.just("is"), some_numbers),
    st.builds(Term, st.sampled_from(sorted(AGES)), ops, some_numbers, st.booleans()),
    st.builds(Term, st.sampled_from(("error", "text")), st.just("has"), some_values, st.booleans()),
    st.builds(
        Term,
        st.sampled_from(sorted(EXACT - {"id", "state"})),
        st.just("is"),
        some_values | st.just(("mail",)) | st.just(("w",)),
        st.booleans(),
    ),
    st.builds(
        Term,
        st.just("state"),
        st.just("is"),
        st.lists(st.sampled_from([state.value for state in State]), min_size=1).map(tuple),
        st.booleans(),
    ),
)
filters = st.lists(terms, max_size=3).map(lambda some: Filter(tuple(some)))

_numbers = count()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@settings(max_examples=120)
@given(jobs=st.lists(st.tuples(messages, endings), min_size=1, max_size=6), queries=st.data())
def test_sql_and_python_agree_on_every_filter(
    folder: Path, jobs: list[tuple[Message, str]], queries: st.DataObject
) -> None:
    clock = FakeClock()
    store = connect(f"sqlite:///{folder}/{next(_numbers)}.db?synchronous=normal", clock)
    for message, ending in jobs:
        clock.advance(1)
        end(store, message, ending)
    everything = all_jobs(store, Filter())
    for query in queries.draw(st.lists(filters, min_size=5, max_size=20)):
        wanted = [job.id for job in everything if query.matches(job, clock.now())]
        assert [job.id for job in all_jobs(store, query)] == wanted
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "payload.user.id:42",
        "payload.tags.1:b",
        "payload.tags.01:b",
        "payload.0:zero",
        "payload.price:1.50",
        "payload.price:1.5",
        "payload.big:123456789012345678901234567890",
        "payload.ok:true",
        "-payload.ok:true",
        "payload.none:null",
        "payload.user:x",
        'error:"é"',
        "state:failed,completed queue:mail",
        "-state:pending",
        'payload.user.id:"42\' OR 1=1 --"',
    ],
)
def test_what_a_user_types_finds_the_same_jobs_in_sql(folder: Path, text: str) -> None:
    clock = FakeClock()
    store = connect(f"sqlite:///{folder}/{next(_numbers)}.db?synchronous=normal", clock)
    for payload in (
        {"user": {"id": 42}, "tags": ["a", "b"], "price": 1.5, "ok": True, "none": None},
        {"user": {"id": "42"}, "0": "zero", "big": 123456789012345678901234567890},
        {"user": "x", "tags": {"1": "b"}, "ok": "true", "price": "1.50"},
        ["zero"],
        "zero",
    ):
        end(store, Message.of("mail", "send", payload), "none")
    end(store, Message.of("mail", "send"), "fail")
    query = Filter.parse(text)
    everything = all_jobs(store, Filter())
    wanted = [job.id for job in everything if query.matches(job, clock.now())]
    assert [job.id for job in all_jobs(store, query)] == wanted
    store.close()


def end(store: SqliteBackend, message: Message, ending: str) -> None:
    store.push([message])
    if ending == "none":
        return
    if ending in ("cancel", "pause"):
        getattr(store, ending)([message.id])
        return
    for job in store.poll("w", {message.queue: 1}, lease=60):
        if ending != "claim":
            error = JobError(1, 0.0, "w", "ValueError", "Zeitüberschreitung É: TIMEOUT")
            store.settle([Settlement.of(job, Verdict(ending), error=error)])


def all_jobs(store: SqliteBackend, query: Filter) -> list[Job]:
    found: list[Any] = []
    page = store.list(query, limit=2)
    found += page.jobs
    while page.next is not None:
        page = store.list(query, limit=2, after=page.next)
        found += page.jobs
    return found
