"""The same app on SQS: with a ledger the whole product, without one what SQS can do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman import Fail, Ferry, Settings
from ferryman.job import State
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from tests.servers.shared import Server


@pytest.fixture
def address(ministack: Server, aws_settings: None, project: str) -> str:
    endpoint = quote(ministack.address, safe="")
    return f"sqs://eu-west-1/{project}?endpoint={endpoint}&create=1"


SHORT = Settings(lease=5.0, drain=2.0, reap_every=0.2)


def test_an_app_runs_on_sqs_with_a_ledger(address: str, ledger: str) -> None:
    with Ferry(f"{address}&ledger={quote(ledger, safe='')}") as ferry:

        @ferry.task()
        def double(number: int) -> int:
            if number == 13:
                raise Fail("unlucky")
            return number * 2

        worker = ferry.worker({"default": 4}, SHORT)
        worker.start()
        try:
            handles = [double.push(number) for number in range(20)]
            results = [handle.wait(20).result for handle in handles if handle is not handles[13]]
            assert sorted(int(result or 0) for result in results) == [
                number * 2 for number in range(20) if number != 13
            ]
            assert handles[13].wait(20).state is State.FAILED
        finally:
            worker.join()


def test_an_app_runs_on_sqs_alone(address: str) -> None:
    seen: list[int] = []
    lock = threading.Lock()
    with Ferry(address) as ferry:

        @ferry.task()
        def note(number: int) -> None:
            with lock:
                seen.append(number)

        worker = ferry.worker({"default": 4}, SHORT)
        worker.start()
        try:
            for number in range(20):
                note.push(number)
            wait_until(lambda: len(set(seen)) == 20, timeout=20, what="every job to run")
        finally:
            worker.join()
    assert set(seen) == set(range(20))
