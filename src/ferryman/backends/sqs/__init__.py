"""AWS SQS: with a ledger the whole product, without one a queue that delivers at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.sqs import forks
from ferryman.backends.sqs.direct import DirectBackend
from ferryman.backends.sqs.ledgered import LedgerBackend
from ferryman.backends.sqs.location import Location
from ferryman.errors import BackendRejected, Unsupported
from ferryman.queue import open as opening
from ferryman.queue.ledger import Ledger

if TYPE_CHECKING:
    from ferryman.clock import Clock

__all__ = ["DirectBackend", "LedgerBackend", "connect", "schema_of"]


def connect(url: str, clock: Clock) -> LedgerBackend | DirectBackend:
    """Open `sqs://region/prefix?ledger=url`; the ledger is made if it is new.

    Options: `endpoint`, `create`, `hop`, `look`, `bare`, `bodies`; see `Location`.
    """
    location = Location.parse(url)
    backend = _with_ledger(location, clock) if location.ledger else DirectBackend(location, clock)
    forks.watch(backend)
    return backend


def schema_of(url: str, version: int) -> str:
    """The SQL of the ledger."""
    ledger = Location.parse(url).ledger
    if ledger is None:
        raise Unsupported("sqs without a ledger needs no SQL: `ferryman migrate` makes its queues")
    return opening.schema_of(ledger, version)


def _with_ledger(location: Location, clock: Clock) -> LedgerBackend:
    url = location.ledger or ""
    ledger = opening.open_backend(url, clock)
    if not isinstance(ledger, Ledger):
        ledger.close()
        raise BackendRejected(f"{opening.safe_url(url)} cannot be a ledger: use a database")
    return LedgerBackend(location, ledger)
