from __future__ import annotations

import json

import pytest

from ferryman.telemetry.escape import json_safe, one_line, without_credentials
from tests.telemetry.hostile import HOSTILE


def test_no_control_character_survives_in_a_line() -> None:
    line = one_line(HOSTILE)
    assert line.isprintable()
    assert line.startswith("\\x1b[31mred")
    assert "\\r\\nforged\\x00\\x7f\\x9b\\u202eoverride\\u2028line\\ud800" in line


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    text = "Ação 漢字 עברית 😀 ok"
    assert one_line(text) == text


def test_a_long_line_is_cut_with_an_ellipsis() -> None:
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_json_means_the_same_after_its_control_characters_are_escaped() -> None:
    value = {"text": HOSTILE, "list": [1, "漢字"]}
    text = json_safe(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:geheim@db/x", "postgresql://ann:***@db/x"),
        ("at redis://:geheim@h:1 and s3://k:geheim@h", "at redis://:***@h:1 and s3://k:***@h"),
        ("https://example.org:8080/a@b", "https://example.org:8080/a@b"),
        ("mail ann:geheim@host", "mail ann:geheim@host"),
        ("pg://h/d?user=a&password=geheim&b=1", "pg://h/d?user=a&password=***&b=1"),
        ("see https://h/x?api_key=geheim, ok?", "see https://h/x?api_key=*** ok?"),
    ],
)
def test_the_passwords_of_urls_are_hidden(text: str, shown: str) -> None:
    assert without_credentials(text) == shown
