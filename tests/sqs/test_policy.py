"""The IAM policy of the docs allows what is asked of SQS, and no more than that."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ferryman.testing import wait_until
from ferryman.testing.conformance.given import ack, claim, claims, nack, pushed, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.contract import Backend
    from tests.servers.line import Line
    from tests.servers.sqs_faults import Weather

PAGE = Path(__file__).parents[2] / "docs" / "backends" / "sqs.md"


def allowed() -> set[str]:
    """The actions on queues that the page's policy allows."""
    text = re.search(r"^```json\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert text is not None
    statements = json.loads(text[1])["Statement"]
    actions = [action for statement in statements for action in statement["Action"]]
    return {action.removeprefix("sqs:") for action in actions if action.startswith("sqs:")}


def test_the_policy_allows_what_is_asked_of_sqs(
    join: Callable[..., Backend], line: Line, weather: Weather
) -> None:
    # The long poll of one store may outlive its wait, and take what was meant for the other.
    for options in ({}, {"ledger": None}):
        store = join(at=line.address, apart=True, **options)
        pushed(store)
        settle(store, nack(claim(store), delay=0))
        # Alone, SQS may take a moment until it gives the message out again.
        [job] = wait_until(partial(claims, store, 1), what="what was given back")
        store.heartbeat("w1", [], lease=60, answered=1)
        settle(store, ack(job))
        assert store.wait(["mail"], 0.1) is False
        store.provision(["mail"])  # type: ignore[attr-defined]
        store.diagnose()  # type: ignore[attr-defined]
        store.snapshot()
        claims(store)
        store.purge("mail")
    # Batches are allowed by the action without that word.
    assert {verb.removesuffix("Batch") for verb in weather.calls} == allowed()
