"""The database narrows a list down and Python decides: no match is ever lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.filter import Filter
from ferryman.testing.conformance.given import a_message, claimed, fail, pushed, settle
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    import psycopg

    from ferryman.backends.postgresql import PostgresqlBackend
    from ferryman.message import Message


def found(backend: PostgresqlBackend, text: str) -> list[str]:
    return [job.id for job in backend.list(Filter.parse(text)).jobs]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"name": "\\u0061na"}', "payload.name:ana"),
        ('{"ratio": 4.2e1}', "payload.ratio:42.0"),
        ('{"name": "ana"}', "payload.name:ana"),
        ('{"n": 42}', "payload.n:42"),
        ('{"n": [null, true]}', "payload.n.1:true"),
        ('{"name": "Überfähre"}', 'payload.name:"Überfähre"'),
    ],
)
def test_a_payload_matches_however_it_is_written(
    backend: PostgresqlBackend,
    postgres_admin: psycopg.Connection[tuple[object, ...]],
    body: str,
    text: str,
) -> None:
    postgres_admin.execute(f"SELECT {SCHEMA}.push('mail', 'send', %s, id => 'x')", [body])
    pushed(backend, {"name": "ben", "n": 4, "ratio": 0.5})
    assert found(backend, text) == ["x"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("TIMEOUT of 100%", "error:timeout"),
        ("zero \N{KELVIN SIGN}elvin", "error:kelvin"),
        ("ÜBERLAUF", "error:überlauf"),
        ("nul \0 and \ud800", "error:nul"),
    ],
)
def test_an_error_matches_as_python_lowers_it(
    backend: PostgresqlBackend, error: str, text: str
) -> None:
    settle(backend, fail(claimed(backend, id="x"), error))
    settle(backend, fail(claimed(backend, id="y"), "something else"))
    assert found(backend, text) == ["x"]
    assert found(backend, f"-{text}") == ["y"]


@pytest.mark.parametrize("text", ["id:a\0b", "meta.a:\0", "payload.a:\0", "\0"])
def test_what_no_name_can_hold_matches_nothing(backend: PostgresqlBackend, text: str) -> None:
    pushed(backend, id="x", meta={"a": "b"})
    assert found(backend, text) == []
    assert found(backend, f"-{text}") == ["x"]


def test_many_pages_of_jobs_that_python_must_look_at(backend: PostgresqlBackend) -> None:
    for start in range(0, 1_500, 500):
        numbers = range(start, start + 500)
        backend.push([_numbered(number) for number in numbers])
    assert found(backend, "payload.n:3.5") == []
    assert len(found(backend, "-payload.n:3.5")) == 50
    assert found(backend, 'payload.name:"ü 7"') == ["j7"]


def _numbered(number: int) -> Message:
    return a_message({"n": number, "name": f"ü {number}"}, id=f"j{number}")
