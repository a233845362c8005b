"""Addresses of queues on a test server that speaks SQS."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from tests.servers.shared import Server


def sqs_url(server: Server, prefix: str, ledger: str) -> str:
    """Queues before a ledger, made on first use."""
    address, database = quote(server.address, safe=""), quote(ledger, safe="")
    return f"sqs://eu-west-1/{prefix}?ledger={database}&endpoint={address}&create=1"
