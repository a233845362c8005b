"""Ids, queues, workers and keys as file names: readable, reversible, and never a path."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

LONGEST: Final = 200
"""Bytes of a name; a file name has 255, and endings such as `.reason.txt` are added."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")
_CUT: Final = 160


def name_of(text: str) -> str:
    """The file name for a text: itself if it is plain, else with `%XX` for what is not.

    Longer ones are cut and end in `~` and a hash, so the text itself must be kept elsewhere.
    """
    return text if _PLAIN.fullmatch(text) else _escaped(text)


def text_of(name: str) -> str:
    """The text for a name that was not cut; a name that nobody escaped is its own text."""
    try:
        return unquote_to_bytes(name).decode()
    except UnicodeDecodeError:
        return name


@lru_cache(maxsize=4_096)
def _escaped(text: str) -> str:
    name = "".join(
        char if _safe(char) and (place or char != ".") else _percent(char)
        for place, char in enumerate(text)
    )
    if len(name.encode()) <= LONGEST:
        return name
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    head = name.encode()[:_CUT].decode(errors="ignore")
    return f"{head}~{digest}"


def _safe(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "._-"
    # Letters that normalisation leaves alone: two spellings of one letter stay two names.
    return char.isalnum() and unicodedata.normalize("NFKC", char) == char


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())
