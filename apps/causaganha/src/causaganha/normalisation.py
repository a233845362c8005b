"""One lawyer, one id, however a gazette spells the name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_TITLE = re.compile(r"^(?:DRA?|DOUTORA?|ADV|ADVOGAD[OA])(?:[.:]\s*|\s+|$)")
_OAB = re.compile(
    r"[(\[,;\-\s]*\bOAB[\s/:\-]*(?P<before>[A-Z]{2}(?=[\s/:\-\d]))?[\s/:\-.]*(?:N[O.\s]*)?"
    r"(?P<number>\d[\d.]*)(?:\s*-?\s*(?P<letter>[A-Z])\b)?[\s/\-]*(?P<after>\b[A-Z]{2}\b)?\s*[)\]]?"
)


@dataclass(frozen=True, slots=True)
class Lawyer:
    """A lawyer as one decision mentions them: `id` says who it is, `name` how they were called.

    The registration with the bar is the identity where there is one, with its letter, because 303
    and 303-B may be two people; spellings and surnames differ from day to day. Without one, as with
    public defenders and prosecutors, it is the name.
    """

    id: str
    name: str

    @classmethod
    def of(cls, mention: str) -> Lawyer | None:
        """Read `Dra. Ana Souza (OAB/RO 1.234)`; None where there is nothing to read."""
        text = plain(mention).upper()
        found = _OAB.search(text)
        name = _untitled(text if found is None else text[: found.start()] + text[found.end() :])
        if found is None:
            return cls(name, name) if name else None
        state = found["before"] or found["after"] or "RO"
        letter = f"-{found['letter']}" if found["letter"] else ""
        registration = f"OAB/{state} {found['number'].replace('.', '').lstrip('0') or '0'}{letter}"
        return cls(registration, name or registration)


def plain(text: str) -> str:
    """Without accents, with single spaces."""
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(each for each in decomposed if not unicodedata.combining(each))
    return " ".join(bare.split())


def _untitled(text: str) -> str:
    name = text.strip(" ,;-–.()")
    while (shorter := _TITLE.sub("", name, count=1)) != name:
        name = shorter
    return " ".join(name.split())
