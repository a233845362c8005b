"""Tells from its name whether a value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

# Looked for in the name's letters alone, so `X-Api-Key`, `apiKey` and `api_key` are one word.
_ANYWHERE: Final = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "dbpass",
    "userpass",
    "smtppass",
    "mailpass",
    "rootpass",
    "adminpass",
    "secret",
    "authorization",
    "credential",
    "cookie",
    "apikey",
    "accesskey",
    "accountkey",
    "authkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "sessionid",
)
_ALONE: Final = frozenset({"auth", "pass", "pin"})
# `compass` and `bypass` end in such a word too, so it has to stand by itself.
_LAST: Final = frozenset({"pass", "jwt", "otp", "cvv", "bearer"})
_LAST_OF_TEXTS: Final = frozenset({"auth", "pin"})
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def looks_secret(name: str, value: Any) -> bool:
    """Whether the value of this name is to be hidden."""
    secret = _says(name)
    # `max_tokens: 800` is a number that people need to see; `tokens: ["…"]` is not.
    return not isinstance(value, int | float) if secret is None else secret


@lru_cache(maxsize=4_096)
def _says(name: str) -> bool | None:
    """Whether a name is that of a secret; None: it depends on the value. Names come again."""
    letters = re.sub(r"[^a-z]", "", name.lower())
    if letters in _ALONE or any(word in letters for word in _ANYWHERE):
        return True
    words = _WORD.findall(name)
    last = words[-1].lower() if words else ""
    if last in _LAST or letters.endswith(("token", "pwd")):
        return True
    return None if "token" in letters or last in _LAST_OF_TEXTS else False
