"""Limits on SQS: shared through the ledger; without one only breakers of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman import Ferry, Settings, State, Unsupported
from ferryman.flow.circuit import Phase
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from tests.servers.shared import Server

SHORT = Settings(lease=5.0, drain=2.0, reap_every=0.2)


@pytest.fixture
def address(ministack: Server, aws_settings: None, project: str) -> str:
    endpoint = quote(ministack.address, safe="")
    return f"sqs://eu-west-1/{project}?endpoint={endpoint}&create=1"


def test_with_a_ledger_a_rate_and_a_breaker_hold_jobs_back(address: str, ledger: str) -> None:
    ran: list[int] = []
    with Ferry(f"{address}&ledger={quote(ledger, safe='')}") as ferry:
        breaker = ferry.breaker("service", threshold=1)

        @ferry.task(rate="2/h", concurrency=1)
        def note(number: int) -> None:
            ran.append(number)

        @ferry.task(needs=["service"])
        def ask() -> None:
            raise OSError("down")

        note.push_many(range(4))
        asked = ask.push()
        worker = ferry.worker({"default": 2}, SHORT)
        worker.start()
        try:
            wait_until(lambda: len(ran) == 2, timeout=20, what="two of four")
            wait_until(lambda: breaker.phase() is Phase.OPEN, timeout=20, what="the breaker")
        finally:
            worker.join()
        assert ferry.flow.rate("task:note").left() == {"2/h": 0}
        assert (asked.status(), asked.job().attempts) == (State.PENDING, 0)


def test_without_a_ledger_what_workers_would_share_is_refused(address: str) -> None:
    with Ferry(address) as ferry:
        ferry.task(needs=["service"])(lambda: None)
        with pytest.raises(Unsupported, match="local=True"):
            ferry.worker({"default": 1})
        ferry.breaker("service", local=True)
        ferry.worker({"default": 1})
        with pytest.raises(Unsupported, match="ledger="):
            ferry.rate("gemini", "15/m").take()
