"""The turns of tenants, for jobs that become ready by other ways than a push."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.backends.sqlite.transaction import Transaction


def give_turns(tx: Transaction, queue: str) -> None:
    """Let every ready job of the queue that has a tenant have a turn."""
    if rows := tx.run("without_turn", {"queue": queue}).fetchall():
        # One by one: each turn depends on those before it.
        tx.run_many("take_turn", rows)
