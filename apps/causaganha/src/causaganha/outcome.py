"""Who won, by the word that a decision uses for its outcome."""

from __future__ import annotations

from typing import Final, Literal

from causaganha.normalisation import plain

Result = Literal["win_a", "win_b", "draw"]

_WORDS: Final[dict[Result, tuple[str, ...]]] = {
    "win_a": ("procedente", "provido", "confirmada"),
    "win_b": (
        "improcedente",
        "negado provimento",
        "nao provido",
        "desprovido",
        "reformada",
    ),
    "draw": (
        "parcialmente procedente",
        "parcialmente provido",
        "extinto",
        "extinto sem resolucao de merito",
        "nao definido",
    ),
}
_RESULTS: Final = {word: result for result, words in _WORDS.items() for word in words}


def result_of(outcome: str) -> Result | None:
    """What an outcome means for the two sides; None where nobody has said yet.

    An unknown word is no match: to call it a draw would move two ratings on no evidence.
    """
    return _RESULTS.get(" ".join(plain(outcome).lower().replace("_", " ").split()))
