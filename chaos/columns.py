"""The columns of a verdict, as a store's terms have them counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos import at_least_once, checker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from chaos.checker import Finding
    from chaos.evidence import Evidence
    from chaos.terms import Terms

    Column = Callable[[Evidence], Iterator[Finding]]

_WITHOUT_RECORD: Final = {name: getattr(at_least_once, name) for name in checker.COLUMNS}


def columns_for(terms: Terms) -> Mapping[str, Column]:
    """By name, what finds the jobs that a column counts."""
    return _WITHOUT_RECORD if terms.at_least_once else checker.COLUMNS
