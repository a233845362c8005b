"""Ids, queues, workers and keys as file names: readable, reversible, and never a path."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from itertools import accumulate
from typing import Final
from urllib.parse import unquote_to_bytes

LONGEST: Final = 200
"""Bytes of a name; a file name has 255, and endings such as `.reason.txt` are added."""

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")
_CUT: Final = 160
_CUT_OFF: Final = re.compile(r"~[0-9a-f]{32}\Z")


def name_of(text: str) -> str:
    """The file name for a text: itself if it is plain, else with `%XX` for what is not.

    Longer ones are cut and end in `~` and a hash, so the text itself must be kept elsewhere; what
    is left of it has the same name.
    """
    return text if _PLAIN.fullmatch(text) else _escaped(text)


def text_of(name: str) -> str:
    """The text for a name that was not cut; a name that nobody escaped is its own text."""
    try:
        return unquote_to_bytes(name).decode()
    except UnicodeError:
        return name


def is_ours(name: str) -> bool:
    """Whether a name is one that `name_of` makes: by any other, nobody would look for it."""
    if _PLAIN.fullmatch(name):
        return True
    try:
        return name_of(text_of(name)) == name
    except UnicodeError:
        return False


def is_cut(name: str) -> bool:
    """Whether a name holds only a part of its text."""
    return _CUT_OFF.search(name) is not None


def fitting(name: str) -> str:
    """A name of any bytes and length, with room for an ending."""
    text = shown(name)
    return text if text == name and len(text.encode()) <= LONGEST else name_of(text)


def shown(name: str) -> str:
    """A name or path of any bytes as text that can be printed and written."""
    return name.encode(errors="backslashreplace").decode()


@lru_cache(maxsize=4_096)
def _escaped(text: str) -> str:
    mark = _CUT_OFF.search(text)
    stem, end = (text[: mark.start()], mark[0]) if mark else (text, "")
    parts = [
        char if _safe(char) and (place or char != ".") else _percent(char)
        for place, char in enumerate(stem)
    ]
    name = "".join(parts) + end
    if len(name.encode()) <= LONGEST:
        return name
    digest = hashlib.sha256(_bytes(text)).hexdigest()[:32]
    return f"{_head(parts)}~{digest}"


def _head(parts: list[str]) -> str:
    """As many whole characters as fit: half of an escape would be another text."""
    sizes = accumulate(len(part.encode()) for part in parts)
    return "".join(part for part, size in zip(parts, sizes, strict=True) if size <= _CUT)


def _safe(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "._-"
    # Letters that normalisation leaves alone: two spellings of one letter stay two names.
    return char.isalnum() and unicodedata.normalize("NFKC", char) == char


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in _bytes(char))


def _bytes(text: str) -> bytes:
    """Also of a lone surrogate: nobody is called so, but somebody may ask for it."""
    return text.encode(errors="surrogatepass")
