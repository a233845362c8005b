"""SQS queues on a real server, each test with names of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest

from ferryman.backends.aws.client import Client
from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing.clock import FakeClock
from tests.servers.line import Line
from tests.servers.sqs_faults import Weather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server


@pytest.fixture
def project() -> str:
    return _fresh()


@pytest.fixture
def ledger(memory_folder: Path) -> str:
    return f"sqlite:///{memory_folder}/ledger.db"


@pytest.fixture
def line(ministack: Server) -> Iterator[Line]:
    with Line(ministack.address) as line:
        yield line


@pytest.fixture
def weather(line: Line) -> Weather:
    return Weather(line)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def join(
    ministack: Server, aws_settings: None, project: str, ledger: str
) -> Iterator[Callable[..., Backend]]:
    """Opens the store: with the ledger unless told otherwise, on a clock if one is given.

    Those of one test share their SQS queues; `apart` gives a store its own.
    """
    opened: list[Backend] = []

    def open_it(
        *,
        at: str | None = None,
        clock: FakeClock | None = None,
        apart: bool = False,
        **options: Any,
    ) -> Backend:
        chosen = {"ledger": ledger, "endpoint": at or ministack.address, "create": 1, **options}
        query = urlencode({k: v for k, v in chosen.items() if v is not None}, quote_via=quote)
        prefix = _fresh() if apart else project
        opened.append(open_backend(f"sqs://eu-west-1/{prefix}?{query}", clock))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()


@pytest.fixture
def sqs(ministack: Server, aws_settings: None) -> Iterator[Any]:
    """The service by hand: what is really there."""
    client = Client(
        "sqs", endpoint=ministack.address, region="eu-west-1", connect=5, answer=30, tries=1
    )
    yield client.get()
    client.close()


@pytest.fixture
def messages(sqs: Any, project: str) -> Callable[..., dict[str, int]]:
    """How many messages a queue has: waiting, on their way, delayed."""

    def count(queue: str = "mail") -> dict[str, int]:
        place = sqs.get_queue_url(QueueName=f"{project}_{queue}")["QueueUrl"]
        said = sqs.get_queue_attributes(QueueUrl=place, AttributeNames=["All"])["Attributes"]
        return {
            "waiting": int(said["ApproximateNumberOfMessages"]),
            "flying": int(said["ApproximateNumberOfMessagesNotVisible"]),
            "delayed": int(said["ApproximateNumberOfMessagesDelayed"]),
        }

    return count


def _fresh() -> str:
    """A prefix that nobody else has."""
    return new_id().replace("-", "")
