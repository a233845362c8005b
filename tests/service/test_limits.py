"""What cells of others, or of a damaged store, look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import Unsupported
from ferryman.service.insights import Insights
from tests.service.faults import without_cells

if TYPE_CHECKING:
    from ferryman import Ferry


def test_cells_that_cannot_be_read_hide_nothing_else(ferry: Ferry, insights: Insights) -> None:
    for key in ("breaker/b", "rate/r", "concurrency/c"):
        ferry.backend.write_cell(key, "not json", expect=None)
    ferry.backend.write_cell("rate/zone", '{"zone":"Nowhere/At_All","5/d":{}}', expect=None)
    assert [(row.name, row.failures) for row in insights.breakers()] == [("b", 0)]
    assert [(row.name, row.left, row.zone) for row in insights.rates()] == [("zone", 5, "UTC")]
    assert [(row.name, row.limit) for row in insights.permits()] == [("c", 0)]


def test_a_store_without_cells_says_so(ferry: Ferry) -> None:
    with pytest.raises(Unsupported, match="no cells"):
        Insights(without_cells(ferry.backend)).breakers()
