"""SQS for one campaign: a server of its own, and a way to it on which things happen twice."""

from __future__ import annotations

import json
import socket
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from chaos.inspection import inspect_sqlite
from chaos.rented import rented
from chaos.site import Remains, Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_REGION: Final = "eu-west-1"
_PREFIX: Final = "chaos"
_HOST: Final = "127.0.0.1"
_LOOK: Final = 2
"""Seconds until a job is found whose notice died with a process."""
_CHANCE: Final = 0.2
"""The share of requests that something befalls."""
_TELL_EVERY: Final = 0.1


@contextmanager
def ledgered(folder: Path) -> Iterator[Site]:
    """Notices in SQS, jobs in a SQLite file."""
    ledger = folder / "ledger.db"
    options = f"&look={_LOOK}&ledger={quote(f'sqlite:///{ledger}', safe='')}"
    with _weather(folder) as weather:
        url = f"{weather.url}{options}"
        yield Site(
            {"": url},
            url,
            lambda: Remains(inspect_sqlite(ledger), met=weather.met()),
            carry=weather.carry,
        )


@contextmanager
def alone(folder: Path) -> Iterator[Site]:
    """Jobs in SQS and nowhere else."""
    with _weather(folder) as weather:
        yield Site(
            {"": weather.url},
            weather.url,
            lambda: Remains(buried=list(_buried(weather.server)), met=weather.met()),
            carry=weather.carry,
        )


class Weather:
    """A line to a server. Its address is known before anyone is forked to carry requests on it."""

    def __init__(self, server: str, listening: socket.socket, told: Path) -> None:
        self.server = server
        self._listening = listening
        self._told = told
        line = quote(f"http://{_HOST}:{listening.getsockname()[1]}", safe="")
        self.url = f"sqs://{_REGION}/{_PREFIX}?create=1&endpoint={line}"

    def carry(self, seed: int) -> int:
        """The body of the process that carries; never returns."""
        # Here, because these come with the development packages only.
        from tests.servers import sqs_faults as bad
        from tests.servers.line import Line

        with Line(self.server, seed, self._listening) as line:
            weather = bad.Weather(line)
            weather.storm(
                [
                    bad.sent_twice,
                    bad.seen_twice,
                    bad.shuffled,
                    bad.back_after_delete,
                    bad.done_in_part,
                    bad.throttled,
                    bad.unavailable,
                ],
                _CHANCE,
            )
            while True:
                time.sleep(_TELL_EVERY)
                new = self._told.with_suffix(".new")
                new.write_text(json.dumps(weather.met))
                new.rename(self._told)

    def met(self) -> Mapping[str, int]:
        """How often each misfortune befell a request."""
        found: dict[str, int] = json.loads(self._told.read_text()) if self._told.exists() else {}
        return {name.replace("_", " "): found[name] for name in sorted(found)}


@contextmanager
def _weather(folder: Path) -> Iterator[Weather]:
    with rented("ministack", folder) as server, closing(socket.socket()) as listening:
        listening.bind((_HOST, 0))
        yield Weather(server, listening, folder / "weather.json")


def _buried(server: str) -> Iterator[str]:
    """The ids in the dead-letter queues, by the plain client; afterwards they are empty."""
    from botocore.session import Session

    client = Session().create_client("sqs", region_name=_REGION, endpoint_url=server)
    with closing(client):
        sqs: Any = client
        for place in sqs.list_queues(QueueNamePrefix=f"{_PREFIX}_").get("QueueUrls", []):
            if place.endswith("_failed"):
                yield from _taken(sqs, place)


def _taken(sqs: Any, place: str) -> Iterator[str]:
    while found := sqs.receive_message(QueueUrl=place, MaxNumberOfMessages=10).get("Messages"):
        for message in found:
            yield json.loads(message["Body"])["id"]
            sqs.delete_message(QueueUrl=place, ReceiptHandle=message["ReceiptHandle"])
