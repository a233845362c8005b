"""The report of a store that can hardly be looked into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.service.report import report
from ferryman.testing.conformance.given import pushed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend


def test_a_part_that_the_store_cannot_tell_says_so(join: Callable[..., Backend]) -> None:
    store = join(ledger=None)
    pushed(store)
    page = report(store, "sqs://")
    assert "<td>mail</td>" in page
    assert page.count("sqs keeps no rows about workers") == 1
    for part in ("Failures", "Schedules", "Breakers", "Newest jobs"):
        assert f"<h2>{part}</h2><p>sqs" in page
