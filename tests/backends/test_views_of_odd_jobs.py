"""A view shows every job: what does not fit the type of a column is null, on both databases."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import psycopg
import pytest
from psycopg.rows import dict_row

from ferryman import Ferry
from ferryman.queue.view import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

QUEUE = "odd"
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
LARGEST = 2**63 - 1

# A value, and what it is in columns of these types; in others it is null, and as JSON itself.
VALUES: list[tuple[Any, dict[str, Any]]] = [
    (None, {}),
    ("", {"text": ""}),
    ("bad", {"text": "bad"}),
    ("a\0b", {}),
    ("\ue000\0\\u0000", {}),
    ("\\u0000", {"text": "\\u0000"}),
    ("é \U0001f600 \x7f \x1f", {"text": "é \U0001f600 \x7f \x1f"}),
    (True, {"text": "true", "boolean": True}),
    (False, {"text": "false", "boolean": False}),
    ("true", {"text": "true", "boolean": True}),
    ("True", {"text": "True"}),
    (0, {"text": "0", "integer": 0, "real": 0.0}),
    (1, {"text": "1", "integer": 1, "real": 1.0}),
    ("42", {"text": "42", "integer": 42, "real": 42.0}),
    (" 42 ", {"text": " 42 "}),
    ("007", {"text": "007"}),
    ("+5", {"text": "+5"}),
    (".5", {"text": ".5"}),
    ("5.", {"text": "5."}),
    ("0x10", {"text": "0x10"}),
    ("1_000", {"text": "1_000"}),
    (-7.5, {"text": "-7.5", "real": -7.5}),
    (2.0, {"text": "2.0", "real": 2.0}),
    ("1E2", {"text": "1E2", "real": 100.0}),
    (1.5e300, {"text": "1.5e+300", "real": 1.5e300}),
    (5e-324, {"text": "5e-324", "real": 5e-324}),
    ("1e-999", {"text": "1e-999", "real": 0.0}),
    ("1e999", {"text": "1e999"}),
    ("-1e999", {"text": "-1e999"}),
    ("1e99999", {"text": "1e99999"}),
    ("NaN", {"text": "NaN"}),
    ("Infinity", {"text": "Infinity"}),
    (LARGEST, {"text": str(LARGEST), "integer": LARGEST, "real": float(LARGEST)}),
    (-LARGEST - 1, {"text": str(-LARGEST - 1), "integer": -LARGEST - 1, "real": -(2.0**63)}),
    (LARGEST + 1, {"text": str(LARGEST + 1), "real": 2.0**63}),
    (10**300, {"text": str(10**300), "real": 1e300}),
    (10**309, {"text": str(10**309)}),
    ([], {"text": "[]"}),
    ({"a": [1, "é"]}, {"text": '{"a":[1,"é"]}'}),
    ("2026-03-01", {"text": "2026-03-01", "time": MARCH}),
    ("2026-03-01T00:00Z", {"text": "2026-03-01T00:00Z", "time": MARCH}),
    ("2026-03-01 01:30:00+01:30", {"text": "2026-03-01 01:30:00+01:30", "time": MARCH}),
    ("2026-03-01T00:00:00", {"text": "2026-03-01T00:00:00", "time": MARCH}),
    (
        "2026-03-01T00:00:00.250000+00:00",
        {"text": "2026-03-01T00:00:00.250000+00:00", "time": MARCH.replace(microsecond=250_000)},
    ),
    ("2024-02-29", {"text": "2024-02-29", "time": datetime(2024, 2, 29, tzinfo=UTC)}),
    ("2451545.5", {"text": "2451545.5", "real": 2451545.5}),
    ("20260301", {"text": "20260301", "integer": 20260301, "real": 20260301.0}),
    *(
        (text, {"text": text})
        for text in (
            "not a time",
            "now",
            "today",
            "infinity",
            "10:00",
            "2026-02-29",
            "2026-02-30",
            "2026-04-31",
            "2026-13-01",
            "2026-00-01",
            "2026-03-00",
            "0000-01-01",
            "2026-03-01T",
            "2026-03-01 ",
            "2026-03-01T10",
            "2026-03-01T24:00:00Z",
            "2026-03-01T10:60:00Z",
            "2026-03-01T10:00:60Z",
            "2026-03-01T10:00:00 Z",
            "2026-03-01T10:00:00+25:00",
            "2026-03-01T10:00:00 Europe/Berlin",
            "2026-03-01T10:00:00Z\n",
            "9999-12-31T23:59:59-14:00",
            "0001-01-01T00:00:00+14:00",
        )
    ),
]


@pytest.fixture
def database(
    postgres_url: str, postgres_admin: psycopg.Connection[tuple[object, ...]]
) -> Iterator[str]:
    yield postgres_url
    postgres_admin.execute("DROP VIEW IF EXISTS odd_jobs")


@pytest.fixture(params=["sqlite", "postgresql"])
def ferry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ferry]:
    file = f"sqlite:///{tmp_path}/jobs.db"
    url = file if request.param == "sqlite" else request.getfixturevalue("database")
    with Ferry(url) as ferry:
        yield ferry


def rows(ferry: Ferry, request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """What a program that knows nothing of us reads."""
    query = "SELECT * FROM odd_jobs ORDER BY seq"
    if ferry.url.startswith("sqlite"):
        with closing(sqlite3.connect(ferry.url.removeprefix("sqlite:///"))) as file:
            file.row_factory = sqlite3.Row
            return [as_python(dict(row)) for row in file.execute(query)]
    with psycopg.connect(request.getfixturevalue("postgres"), row_factory=dict_row) as connection:
        connection.execute("SET TimeZone = 'Asia/Kathmandu'")
        return connection.execute(query).fetchall()


def as_python(row: dict[str, Any]) -> dict[str, Any]:
    """A row of SQLite, which has neither booleans nor times nor JSON."""
    readings: dict[str, Callable[[Any], Any]] = {
        "boolean": bool,
        "json": json.loads,
        "time": datetime.fromisoformat,
    }
    return {
        name: readings[name](value) if name in readings and value is not None else value
        for name, value in row.items()
    }


def expected(value: Any, fitting: dict[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(get_args(Kind)), "json": value, **fitting}


@pytest.mark.parametrize("beside", [{}, {"b\0": "a\0b", "c": "\\\0"}], ids=["alone", "beside NUL"])
def test_what_does_not_fit_its_type_is_null(
    ferry: Ferry, request: pytest.FixtureRequest, beside: dict[str, str]
) -> None:
    columns = {kind: f"payload.v:{kind}" for kind in get_args(Kind)}
    ferry.view("odd_jobs", QUEUE, {"seq": "seq", **columns})
    for value, _ in VALUES:
        ferry.push("send", {**beside, "v": value}, queue=QUEUE)
    shown = rows(ferry, request)
    assert len(shown) == len(VALUES)
    for row, (value, fitting) in zip(shown, VALUES, strict=True):
        del row["seq"]
        assert row == expected(value, fitting)
        assert [type(each) for each in row.values()] == [
            type(each) for each in expected(value, fitting).values()
        ]


def test_what_is_not_there_is_null_in_every_type(
    ferry: Ferry, request: pytest.FixtureRequest
) -> None:
    columns = {kind: f"payload.v.w:{kind}" for kind in get_args(Kind)}
    ferry.view("odd_jobs", QUEUE, {"seq": "seq", **columns})
    payloads: list[Any] = [None, 5, "v", [], {}, {"v": 1}, {"v": {}}, {"v": {"w": None}}]
    for payload in payloads:
        ferry.push("send", payload, queue=QUEUE)
    for row in rows(ferry, request):
        assert {row[kind] for kind in get_args(Kind)} == {None}


@pytest.mark.parametrize(
    ("payload", "fitting"),
    [
        (5, {"text": "5", "integer": 5, "real": 5.0}),
        (True, {"text": "true", "boolean": True}),
        ("2026-03-01", {"text": '"2026-03-01"', "time": MARCH}),
        ({"a": 1}, {"text": '{"a":1}'}),
    ],
)
def test_a_whole_payload_may_have_any_type(
    ferry: Ferry, request: pytest.FixtureRequest, payload: Any, fitting: dict[str, Any]
) -> None:
    columns = {kind: f"payload:{kind}" for kind in get_args(Kind)}
    ferry.view("odd_jobs", QUEUE, {"seq": "seq", **columns})
    ferry.push("send", payload, queue=QUEUE)
    [row] = rows(ferry, request)
    assert row == {"seq": row["seq"], **expected(payload, fitting)}


@pytest.mark.parametrize(
    ("job_id", "fitting"),
    [
        ("17", {"integer": 17, "real": 17.0}),
        ("2026-03-01", {"time": MARCH}),
        ("true", {"boolean": True}),
        ("b-1", {}),
    ],
)
def test_a_text_of_the_job_may_have_any_type(
    ferry: Ferry, request: pytest.FixtureRequest, job_id: str, fitting: dict[str, Any]
) -> None:
    columns = {kind: f"id:{kind}" for kind in get_args(Kind)}
    ferry.view("odd_jobs", QUEUE, {"seq": "seq", **columns})
    ferry.push("send", queue=QUEUE, id=job_id)
    [row] = rows(ferry, request)
    assert row == {"seq": row["seq"], **expected(job_id, {"text": job_id, **fitting})}


def test_a_number_of_the_job_may_have_any_type(
    ferry: Ferry, request: pytest.FixtureRequest
) -> None:
    columns = {kind: f"priority:{kind}" for kind in get_args(Kind)}
    ferry.view("odd_jobs", QUEUE, {"seq": "seq", **columns, "since": "created_at:integer"})
    handle = ferry.push("send", queue=QUEUE, priority=7)
    [row] = rows(ferry, request)
    assert row["since"] == int(handle.job().created_at)
    del row["since"]
    fitting = {"text": "7", "integer": 7, "real": 7.0}
    assert row == {"seq": row["seq"], **expected(7, fitting)}
