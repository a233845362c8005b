"""Hides values that look secret, wherever jobs are shown."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from ferryman.telemetry.escape import without_credentials

HIDDEN: Final = "***"

# Looked for in the key's letters alone, so `X-Api-Key`, `apiKey` and `api_key` are one word.
_ANYWHERE: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "authorization",
    "credential",
    "cookie",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "sessionid",
)
# A name and its value as programs print them: `password=x`, `"api_key": "x"`, `'token': 'x'`.
_ASSIGNED: Final = re.compile(
    r"""(\b([A-Za-z][A-Za-z0-9_\-]{0,60})["']?\s{0,3}[=:]\s{0,3})"""
    r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"',;&)}\]]+)"""
)
_BEARER: Final = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=\-]{8,}", re.IGNORECASE)
# As `filter.py` writes them, and the rest of one that is cut off inside its quotes.
_CONDITION: Final = re.compile(
    r"""\b((?:payload|meta)\.[\w.\-]+):((?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s",]+)"""
    r"""(?:,(?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s",]+))*)"""
)
# No name can stand before a value here, no scheme before a credential.
_HARMLESS: Final = re.compile(r"[^\s:=]*")
_WHOLE: Final = frozenset({"auth", "pass", "pwd", "jwt", "otp", "pin", "cvv", "bearer"})


def redacted(value: Any) -> Any:
    """A copy of plain JSON with secret values hidden at any depth, and URLs without passwords."""
    if isinstance(value, dict):
        return {
            key: HIDDEN if _looks_secret(key, item) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return redacted_text(value) if isinstance(value, str) else value


def redacted_text(text: str) -> str:
    """Free text, such as an error's: no passwords of URLs, `password=…` or `Bearer …`."""
    if _HARMLESS.fullmatch(text):
        return text
    text = _BEARER.sub(rf"\1 {HIDDEN}", without_credentials(text))
    return _ASSIGNED.sub(_hide_assigned, text)


def _hide_assigned(found: re.Match[str]) -> str:
    return f"{found[1]}{HIDDEN}" if _looks_secret(found[2], "") else found[0]


def redacted_filter(text: str) -> str:
    """A filter, or a text that repeats one, with the values of secret names hidden."""
    return _CONDITION.sub(_hide_value, text)


def _hide_value(condition: re.Match[str]) -> str:
    secret = any(_looks_secret(name, "") for name in condition[1].split("."))
    return f"{condition[1]}:{HIDDEN}" if secret else condition[0]


def _looks_secret(key: str, value: Any) -> bool:
    secret = _says(key)
    # `max_tokens: 800` is a number that people need to see; `tokens: ["…"]` is not.
    return not isinstance(value, int | float) if secret is None else secret


@lru_cache(maxsize=4_096)
def _says(key: str) -> bool | None:
    """Whether a name is that of a secret; None: it depends on the value. Names come again."""
    letters = re.sub(r"[^a-z]", "", key.lower())
    if letters in _WHOLE or any(word in letters for word in _ANYWHERE):
        return True
    if letters.endswith("token"):
        return True
    return None if "token" in letters else False
