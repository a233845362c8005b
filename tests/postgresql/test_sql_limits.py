"""What a message in Python may not be, `push` in SQL refuses, too."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ferryman.errors import InvalidMessage
from ferryman.message import MAX_BYTES, MAX_DEPTH, Message
from ferryman.testing.conformance.given import the_job
from tests.servers.postgres_fixtures import SCHEMA

if TYPE_CHECKING:
    from ferryman.backends.postgresql import PostgresqlBackend

    Admin = psycopg.Connection[tuple[object, ...]]

NBSP = "\u00a0"
CASTS = {"body": "::json", "meta": "::jsonb", "queue": "::text"}


def push(admin: Admin, body: str = "null", **options: Any) -> None:
    given = {"queue": "mail", "task": "send", "body": body, **options}
    arguments = ", ".join(f"{name} => %({name})s{CASTS.get(name, '')}" for name in given)
    admin.execute(f"SELECT {SCHEMA}.push({arguments})", given)


def nested(depth: int) -> str:
    """Lists and objects in turn."""
    text = "1"
    for level in range(depth):
        text = f"[{text}]" if level % 2 else f'{{"a": {text}}}'
    return text


@pytest.mark.parametrize(
    "options",
    [
        {"queue": ""},
        {"queue": NBSP},
        {"queue": f" {NBSP}\u3000\u200a"},
        {"task": "x" * 201},
        {"id": "x" * 513},
        {"id": " "},
        {"key": ""},
        {"key": "🚢" * 512},
        {"key": "é" * 901},
        {"correlation_id": "x" * 513},
        {"priority": 2_000_000_000},
        {"version": 0},
        {"max_attempts": 0},
        {"delay": -1.0},
        {"delay": 1e9},
        {"timeout": 0.0},
        {"timeout": -1.0},
        {"expires": 0.0},
        {"expires": 1e9},
        {"ready_at": -1.0},
        {"ready_at": 1e11},
        {"ready_at": 1.0, "delay": 1.0},
        {"meta": {str(number): "x" for number in range(17)}},
        {"meta": {"": "x"}},
        {"meta": {"a": ""}},
        {"meta": {"a": NBSP}},
        {"meta": {"a" * 65: "x"}},
        {"meta": {"a": "x" * 513}},
        {"backoff": ""},
        {"backoff": "1,2,3"},
        {"backoff": "1,0.5,3,0"},
        {"backoff": "1,2,3,2"},
        {"backoff": "nan,2,3,0"},
        {"backoff": "abc"},
        {"backoff": "1,null,3,0"},
        {"backoff": "0x1,2,3,0"},
        {"backoff": "{1,2,3,0}"},
        {"backoff": "1e999,2,3,0"},
    ],
    ids=lambda options: str(options)[:32],
)
def test_an_option_is_refused_with_pythons_words(
    backend: PostgresqlBackend, postgres_admin: Admin, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidMessage) as refusal:
        Message(**{"queue": "mail", "task": "send", **options})
    as_json = {"meta": json.dumps(options["meta"])} if "meta" in options else {}
    # A number may be written in another way.
    words = re.escape(str(refusal.value).partition(", got")[0])
    with pytest.raises(psycopg.errors.CheckViolation, match=words):
        push(postgres_admin, **{**options, **as_json})
    assert backend.snapshot().queues == {}


@pytest.mark.parametrize(
    "options",
    [{"queue": None}, {"task": None}, {"body": None}, {"id": None}, {"delay": None}],
    ids=str,
)
def test_what_is_needed_may_not_be_null(
    backend: PostgresqlBackend, postgres_admin: Admin, options: dict[str, Any]
) -> None:
    with pytest.raises(psycopg.errors.NullValueNotAllowed):
        push(postgres_admin, **options)


@pytest.mark.parametrize("character", ["\n", "\x1f", "\x7f", "\x85", "\x9f"])
def test_a_name_holds_no_control_characters(
    backend: PostgresqlBackend, postgres_admin: Admin, character: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="task: holds a control character"):
        push(postgres_admin, task=f"a{character}b")


@pytest.mark.parametrize("meta", ["[]", '"x"', '{"a": 1}', '{"a": {}}', '{"a": null}'])
def test_meta_is_an_object_of_strings(
    backend: PostgresqlBackend, postgres_admin: Admin, meta: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match=r"meta.*string"):
        push(postgres_admin, meta=meta)


# -- what a payload may not be


@pytest.mark.parametrize("surroundings", ["{}", '[1, {{"a": {}}}, 2]', '["[[[[{{{{\\"", {}]'])
def test_a_payload_is_nested_as_deep_as_in_python(
    backend: PostgresqlBackend, postgres_admin: Admin, surroundings: str
) -> None:
    around = {"{}": 0, '[1, {{"a": {}}}, 2]': 2, '["[[[[{{{{\\"", {}]': 1}[surroundings]
    deepest = surroundings.format(nested(MAX_DEPTH - around))
    push(postgres_admin, deepest, id="x")
    assert the_job(backend, "x").payload == json.loads(deepest)
    Message.of("mail", "send", json.loads(deepest))
    deeper = surroundings.format(nested(MAX_DEPTH - around + 1))
    with pytest.raises(InvalidMessage, match="is nested over 64 deep"):
        Message.of("mail", "send", json.loads(deeper))
    with pytest.raises(psycopg.errors.CheckViolation, match="body: is nested over 64 deep"):
        push(postgres_admin, deeper)


def test_what_is_far_too_deep_is_refused_and_no_error_of_the_server(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="body: is nested over 64 deep"):
        push(postgres_admin, "[" * 3_000 + "]" * 3_000)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([{"a": []}] * 200),
        json.dumps("[{" * 200),
        json.dumps({"a": "[" * 65, "b": "\0" * 65 + "[" * 65}),
        json.dumps([[]] * 5_000),
    ],
)
def test_many_brackets_are_not_deep(
    backend: PostgresqlBackend, postgres_admin: Admin, body: str
) -> None:
    push(postgres_admin, body, id="x")
    assert the_job(backend, "x").payload == json.loads(body)


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "1E+400", "0.1e310", "1e99999999", "9" * 400 + ".5", "1.8e308"]
)
@pytest.mark.parametrize("body", ["{}", "[1, {}]", '{{"a": {}}}', '{{"a":{},"b":"\\u0000"}}'])
def test_a_number_that_python_takes_for_infinite_is_refused(
    backend: PostgresqlBackend, postgres_admin: Admin, body: str, number: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match=r"body: holds a number over 1\.8e308"):
        push(postgres_admin, body.format(number))


@pytest.mark.parametrize(
    "body",
    [
        "1.7976931348623157e308",
        "[1e-999, 1e308, -1e308, 123e300]",
        '" 1e999"',
        '{"1e999": "a, 1e999", "hash": "9e1034567"}',
        json.dumps("9" * 1_000),
        "9" * 300,
    ],
)
def test_a_number_that_python_can_read_is_taken(
    backend: PostgresqlBackend, postgres_admin: Admin, body: str
) -> None:
    push(postgres_admin, body, id="x")
    assert the_job(backend, "x").payload == json.loads(body)


@pytest.mark.parametrize("escape", [r"\ud800", r"\udc00", r"\uDC00\uD800", r"\ud83d\ud83d\ude00"])
def test_a_lone_surrogate_is_refused(
    backend: PostgresqlBackend, postgres_admin: Admin, escape: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="body: holds a lone surrogate"):
        push(postgres_admin, f'{{"a": "{escape}"}}')


@pytest.mark.parametrize(
    "body", [r'"\ud83d\ude00"', r'"\\ud800"', r'"\u0000\uD83D\uDE00"', r'["\ud83d\ude00", 1e3]']
)
def test_what_only_looks_like_a_lone_surrogate_is_taken(
    backend: PostgresqlBackend, postgres_admin: Admin, body: str
) -> None:
    push(postgres_admin, body, id="x")
    assert the_job(backend, "x").payload == json.loads(body)


def test_a_payload_is_as_large_as_in_python(
    backend: PostgresqlBackend, postgres_admin: Admin
) -> None:
    push(postgres_admin, f'"{"x" * (MAX_BYTES - 2)}"', id="x")
    assert len(the_job(backend, "x").payload) == MAX_BYTES - 2
    with pytest.raises(psycopg.errors.CheckViolation, match="the limit is 8388608"):
        push(postgres_admin, f'"{"x" * (MAX_BYTES - 1)}"')


def test_what_is_not_json_is_refused(backend: PostgresqlBackend, postgres_admin: Admin) -> None:
    with pytest.raises(psycopg.DataError):
        push(postgres_admin, "{not json")
