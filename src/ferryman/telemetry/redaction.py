"""Hides values that look secret, wherever jobs are shown: in answers, log lines and spans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ferryman.telemetry.escape import without_credentials
from ferryman.telemetry.secret_names import looks_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HIDDEN: Final = "***"

_QUOTE: Final = r"""\\{0,8}["']"""
_ASSIGN: Final = r"\s{0,3}(?:=>|:=|[=:])\s{0,3}"
# A name and what stands between it and its value, as programs print them: `password=x`,
# `"api_key": "x"`. Each name is tried once and as a whole, so that the time grows with the text and
# no faster.
_NAMED: Final = re.compile(
    rf"""(?<![\w.\-])([\w.\-]++)(?:{_QUOTE})?\s{{0,3}}(=>|:=|[=:,])\s{{0,3}}"""
)
# What is around a name where a comma follows: `('token', 'x')`, `{'name': 'token', 'value': 'x'}`.
_PAIR: Final = re.compile(rf"""[\[(]\s{{0,3}}{_QUOTE}\Z""")
_ROW: Final = re.compile(rf"""{_QUOTE}(?i:name|key|header|field){_QUOTE}{_ASSIGN}{_QUOTE}\Z""")
_ROW_VALUE: Final = re.compile(rf"""{_QUOTE}(?i:values?){_QUOTE}{_ASSIGN}""")
_LONGEST_BEFORE: Final = 60
_QUOTED: Final = re.compile(r"""[bBrRuUfF]{0,2}(\\{0,8}["'])""")
# What could close something ends a value only where that something goes on or ends too.
_BARE: Final = re.compile(r"""(?:<[^<>\n]*>|[^\s"',;&)}\]]|["',)}\]](?![\s"',;&)}\].:]|\Z))*""")
_SCHEME: Final = re.compile(r"(?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+(?=\S)")
_BEARER: Final = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=\-]{8,}", re.IGNORECASE)
_WHOLE_LINE: Final = re.compile(r"(?i:authorization|cookie)\d?\Z")
_QUOTES: Final = ("'", '"')
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_CLOSED: Final = re.compile(r"\s*,?\s*(?:[\])]|\Z)")
_NAME: Final = re.compile(r"[\w.\-]{1,100}")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
# No name can stand before a value here, no scheme before a credential.
_HARMLESS: Final = re.compile(r"[^\s:=,]*")
_NAME_KEYS: Final = ("name", "key", "header", "field", "Name", "Key", "NAME")
_VALUE_KEYS: Final = frozenset({"value", "values", "Value", "Values", "VALUE"})


def redacted(value: Any) -> Any:
    """A copy of plain JSON with secret values hidden at any depth, and URLs without passwords."""
    if isinstance(value, dict):
        if not _VALUE_KEYS.isdisjoint(value) and _names_a_secret(value):
            value = {key: HIDDEN if key in _VALUE_KEYS else item for key, item in value.items()}
        return {
            key: HIDDEN if looks_secret(key, item) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return _redacted_list(value)
    return redacted_text(value) if isinstance(value, str) else value


def _names_a_secret(row: Mapping[str, Any]) -> bool:
    """Whether it is a header or a variable as a row: `{"name": "Authorization", "value": "x"}`."""
    names = (row.get(key) for key in _NAME_KEYS)
    return any(isinstance(name, str) and looks_secret(name, "") for name in names)


def _redacted_list(items: Sequence[Any]) -> list[Any]:
    shown = [redacted(item) for item in items]
    for place, name in enumerate(items[:-1]):
        if isinstance(name, str) and _precedes_its_value(name, place, len(items)):
            value = items[place + 1]
            shown[place + 1] = HIDDEN if looks_secret(name, value) else shown[place + 1]
    return shown


def _precedes_its_value(name: str, place: int, count: int) -> bool:
    """Names and values may take turns, as headers do; after an option comes its value."""
    in_turn = count % 2 == 0 and place % 2 == 0
    return (in_turn or name.startswith("-")) and _NAME.fullmatch(name) is not None


def redacted_text(text: str) -> str:
    """Free text, such as an error's: no passwords of URLs, `password=…` or `Bearer …`."""
    if _HARMLESS.fullmatch(text):
        return text
    text = _BEARER.sub(rf"\1 {HIDDEN}", without_credentials(text))
    parts, done = [], 0
    for found in _NAMED.finditer(text):
        name = found[1]
        if found.start() < done or not looks_secret(name, ""):
            continue
        start = _start_of_value(text, found)
        end = start if start == found.start() else _end_of_value(text, found, start)
        if end > start and looks_secret(name, _read(text[start:end])):
            parts += [text[done:start], HIDDEN]
            done = end
    return "".join([*parts, text[done:]])


def _read(value: str) -> str | float:
    return float(value) if _NUMBER.fullmatch(value) else value


def _start_of_value(text: str, found: re.Match[str]) -> int:
    """Where the value begins; where the name does if it has none."""
    start = found.end()
    if found[2] != ",":
        return start
    before = text[max(0, found.start() - _LONGEST_BEFORE) : found.start()]
    value = _ROW_VALUE.match(text, start)
    if value is not None and _ROW.search(before):
        return value.end()
    quoted = _QUOTED.match(text, start)
    if quoted is not None and _PAIR.search(before):
        # A longer list is one of names: `['password', 'token', 'user']`.
        return start if _CLOSED.match(text, _end_of_quoted(text, quoted)) else found.start()
    return found.start()


def _end_of_value(text: str, found: re.Match[str], start: int) -> int:
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        return _end_of_quoted(text, quoted)
    if text[start : start + 1] in _CLOSING:
        return _end_of_brackets(text, start)
    if ":" in found[2] and _WHOLE_LINE.search(found[1]):
        # A header's value has spaces and separators of its own: `Cookie: a=1; sid=x`.
        opening = text[found.start() - 1 : found.start()]
        closing = ["\n", opening] if opening in _QUOTES else ["\n"]
        ends = [text.find(end, start) for end in closing]
        return min((end for end in ends if end >= 0), default=len(text))
    scheme = _SCHEME.match(text, start)
    bare = _BARE.match(text, start if scheme is None else scheme.end())
    return start if bare is None else bare.end()


def _end_of_quoted(text: str, opening: re.Match[str]) -> int:
    """Behind the closing quote, or the end: the rest of a text that was cut off is secret too."""
    quote, escapes = opening[1][-1], len(opening[1]) - 1
    place = opening.end()
    while (place := text.find(quote, place)) >= 0:
        run = 0
        while text[place - run - 1] == "\\" and place - run > opening.end():
            run += 1
        if run == escapes:
            return place + 1
        # `"a\\"` may end here or, if only its backslashes were escaped again, go on: then nobody
        # can tell where the secret ends.
        if run % (2 * escapes + 2) == escapes:
            break
        place += 1
    return len(text)


def _end_of_brackets(text: str, start: int) -> int:
    expected: list[str] = []
    place = start
    while place < len(text):
        char = text[place]
        if char in "\\\"'" and (quoted := _QUOTED.match(text, place)) is not None:
            place = _end_of_quoted(text, quoted)
            continue
        if char in _CLOSING:
            expected.append(_CLOSING[char])
        elif char == expected[-1]:
            expected.pop()
            if not expected:
                return place + 1
        place += 1
    return len(text)
