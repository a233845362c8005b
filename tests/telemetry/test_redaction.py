"""What looks secret is hidden, however it is written; what does not is left as it is."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.telemetry.escape import without_credentials
from ferryman.telemetry.redaction import redacted, redacted_text

S = "hunter2"

VALUES: list[Any] = [
    {"smtp_pass": S},
    {"smtpPass": S},
    {"DB_PWD": S},
    {"MYSQL_PWD": S},
    {"dbpass": S},
    {"SMTPPASS": S},
    {"user_pin": S},
    {"proxy-auth": S},
    {"card_cvv": 123_456},
    ["X-Api-Key", S],
    [["Accept", "*/*"], ["Authorization", f"Token {S}"]],
    ["Accept", "*/*", "Authorization", S],
    ["psql", "--password", S, "-h", "db"],
    {"name": "Authorization", "value": S},
    {"env": [{"Name": "DB_PASSWORD", "Value": S}]},
    {"key": "api_token", "value": [S]},
    {"dsn": f"postgresql://bob:hun/{S}@db/x"},
    {"dsn": f"postgresql://bob:p@{S}@db/x"},
    {"dsn": f"postgresql://bob@corp.example:{S}@db/x"},
    {"dsn": f"amqp://bob:5672/{S}@mq"},
    {"text": json.dumps(json.dumps({"password": S}))},
]

TEXTS = [
    f"_token='{S}'",
    f"self.__password={S}",
    f"{{'password': b'{S}'}}",
    f"{{'credentials': {{'user': 'bob', 'key': ['{S}']}}}}",
    f"Authorization: Token {S}",
    f'Authorization: Digest username="bob", response="{S}"',
    f"authorization=Token {S} end",
    f"curl -H 'Authorization: Token {S}' failed",
    f"Cookie: a=1; sid={S}",
    f"Set-Cookie: sid={S}; Path=/",
    f'{{\\"password\\": \\"{S}\\"}}',
    f'{{\\\\\\"password\\\\\\": \\\\\\"x{S}\\\\\\"}}',
    f'{{"password": "quote\\"{S}"}}',
    f"{{'password': 'cut off {S}",
    f"[('Accept', '*/*'), ('X-Api-Key', '{S}')]",
    f"{{'name': 'Authorization', 'value': '{S}'}}",
    f'{{"header": "api_key", "values": ["{S}"]}}',
    f"'password' => '{S}'",
    f"password=a,{S}",
    f"password=a){S}",
    f"Settings(smtp_pass='{S}', port=25)",
    f"DB_PWD={S}",
    f"token=<Token {S}>",
    f"{'x' * 200}_password={S}",
    f"postgresql://bob:hun/{S}@db is down",
    f"https://h/x?%70assword={S}&b=1",
    f"https://h/x?X-Amz-Signature={S}",
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_secret_value_is_hidden(value: Any) -> None:
    shown = json.dumps(redacted(value))
    assert S not in shown
    assert "123456" not in shown
    assert "***" in shown


NASTY = st.text("ab'\"\\,;&)}](=: \n{[<>@/#?%é*", max_size=6)
NAMES = st.sampled_from(
    ["password", "smtp_pass", "DB_PWD", "X-Api-Key", "Cookie", "_token", "user"]
)


@given(st.dictionaries(NAMES, st.tuples(NASTY, NASTY, st.booleans())))
def test_no_document_in_a_text_shows_a_secret_however_it_is_quoted(
    parts: dict[str, tuple[str, str, bool]],
) -> None:
    document: dict[str, Any] = {}
    for name, (before, after, listed) in parts.items():
        value = f"{before}{'' if name == 'user' else S}{after}"
        document[name] = [value, after] if listed else value
    text = json.dumps(document)
    for written in (
        repr(document),
        text,
        json.dumps(text),
        json.dumps(json.dumps(text)),
        repr(text),
        json.dumps(repr(document)),
        str(ValueError(document)),
    ):
        assert S not in redacted_text(written)
    assert S not in json.dumps(redacted(document))


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_in_a_text_is_hidden(text: str) -> None:
    for whole in (text, f"ValueError: {text}", f"first line\n{text}\n"):
        assert S not in redacted_text(whole)
        assert "***" in redacted_text(whole)


@pytest.mark.parametrize(
    "value",
    [
        {"passenger": "ann", "compass": "north", "bypass": "yes", "token_count": 5},
        {"max_tokens": 800, "tokenizer": 3, "requires_auth": True, "gpio_pin": 4},
        {"name": "ann", "value": 3},
        {"name": "token", "size": 3},
        ["user", "password", "email"],
        ["north", "compass"],
    ],
    ids=repr,
)
def test_an_ordinary_value_is_shown(value: Any) -> None:
    assert redacted(value) == value


@pytest.mark.parametrize(
    "text",
    [
        "passenger=ann compass: north, bypass=yes author='ann'",
        "max_tokens=800 token_count: 5 https://h/x?max_tokens=800&a=1",
        "one of ['user', 'password', 'email'] is missing",
        "https://example.org:8080/a@b and https://example.org/a:b@c",
        "ConnectionError: no answer from db:5432 after 3 s",
        "KeyError: 'id'",
    ],
)
def test_an_ordinary_text_is_shown(text: str) -> None:
    assert redacted_text(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    text = (
        f"login failed: {{'user': 'bob', 'password': '{S}', 'port': 25}} at db\nCookie: a={S}\nend"
    )
    shown = "login failed: {'user': 'bob', 'password': ***, 'port': 25} at db\nCookie: ***\nend"
    assert redacted_text(text) == shown
    assert redacted_text(shown) == shown


def test_the_host_of_a_url_stays() -> None:
    assert without_credentials("pg://bob:p@hun/ter2@db/x?a=1") == "pg://bob:***@db/x?a=1"


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "\\",
        "['a', ",
        "{",
        "token=",
        "'password': \"",
        "a://b:",
        "Bearer ",
        "('token', '",
        "{'name': 'pwd', 'value': ",
    ],
)
def test_the_time_grows_with_the_text_and_no_faster(part: str) -> None:
    began = time.process_time()
    redacted_text(part * (200_000 // len(part)))
    assert time.process_time() - began < 3
