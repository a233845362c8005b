"""Addresses of queues on a test server that speaks SQS."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from tests.servers.shared import Server


def sqs_url(server: Server, prefix: str, ledger: str | None = None) -> str:
    """Queues before a ledger, or alone; made on first use."""
    url = f"sqs://eu-west-1/{prefix}?endpoint={quote(server.address, safe='')}&create=1"
    return url if ledger is None else f"{url}&ledger={quote(ledger, safe='')}"
