"""Text from jobs, made safe for a terminal, a log line and a page of text."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ferryman.telemetry.secret_names import looks_secret

# C0, DEL and C1 steer terminals and forge lines; the separators break them, the marks and
# overrides reorder what is read, and lone surrogates cannot be encoded at all.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# To the last @, for a password may hold @ and / that were not encoded. Only a web address has a
# port and then a path in which an @ is nothing special.
_CREDENTIALS = re.compile(
    r"(\b(?>(https?|wss?)(?=://)|[a-z][a-z0-9+.\-]{0,30})://[^\s/:\"']{0,200}):"
    r"(?(2)(?!\d{1,5}[/?#]))[^\s\"']{1,500}@",
    re.I,
)
_PARAMETER = re.compile(r"([?&;]([^=?&;\s\"']{1,200})=)([^&\s\"']+)")
_SIGNATURE = re.compile(r"(?i)(?:sig|signature)\Z")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def one_line(text: str, limit: int | None = None) -> str:
    """`text` with control characters as escapes, on one line, at most `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return _UNSAFE.sub(_escaped, text)


def json_safe(text: str) -> str:
    """JSON text without raw control characters but the newlines between its parts.

    All others can only stand inside its strings, where an escape means the same.
    """
    return _UNSAFE.sub(lambda found: "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def without_credentials(text: str) -> str:
    """`text` with the password of every URL in it replaced, before its host and in its query."""
    if "://" not in text:
        return text
    return _PARAMETER.sub(_hide_parameter, _CREDENTIALS.sub(r"\1:***@", text))


def _hide_parameter(found: re.Match[str]) -> str:
    # Who reads the URL decodes the name: `%70assword` is one too.
    name = unquote(found[2])
    value = 0 if found[3].isdecimal() else found[3]
    secret = looks_secret(name, value) or _SIGNATURE.search(name)
    return f"{found[1]}***" if secret else found[0]


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
