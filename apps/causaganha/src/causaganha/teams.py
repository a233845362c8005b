"""The two sides of a decision, as teams of lawyers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from causaganha.normalisation import Lawyer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Teams:
    """Lawyers of the active and of the passive side: ids, sorted, each once; `names` by id."""

    active: tuple[str, ...]
    passive: tuple[str, ...]
    names: Mapping[str, str]

    @classmethod
    def of(cls, active: Iterable[str], passive: Iterable[str]) -> Teams | None:
        """None where there is nothing to play: a side is empty, or both are the same.

        Who stands on both sides of a larger field plays on neither.
        """
        one, other = _lawyers(active), _lawyers(passive)
        both = one.keys() & other.keys()
        if not one or not other or one.keys() == other.keys():
            return None
        a, b = sorted(one.keys() - both), sorted(other.keys() - both)
        if not a or not b:
            return None
        names = {**one, **other}
        return cls(tuple(a), tuple(b), {each: names[each] for each in (*a, *b)})


def _lawyers(mentions: Iterable[str]) -> dict[str, str]:
    found = [lawyer for mention in mentions if (lawyer := Lawyer.of(mention)) is not None]
    names: dict[str, str] = {}
    for lawyer in found:
        names[lawyer.id] = fuller(names.get(lawyer.id, ""), lawyer.name)
    return names


def fuller(one: str, other: str) -> str:
    """The more complete of two names, whichever comes first."""
    return max(one, other, key=lambda name: (len(name), name))
