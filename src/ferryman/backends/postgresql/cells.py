"""Cells: small shared values with compare-and-set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.queue.answers import Cell

if TYPE_CHECKING:
    from ferryman.backends.postgresql.transaction import Transaction


def write_cell(
    tx: Transaction, key: str, value: str | None, *, expect: int | None, ttl: float | None
) -> Cell | None:
    """The written (or deleted) cell, or None if its version was not `expect`."""
    # A cell that does not exist yet has no row to lock.
    tx.run("lock_cell", {"key": key})
    old, last, expires_at = tx.row("cell", {"key": key}) or (None, 0, None)
    live = None
    if old is not None and (expires_at is None or expires_at > tx.now):
        live = Cell(key, old, last, expires_at)
    if expect is not None and expect != (0 if live is None else live.version):
        return None
    if value is None and live is None:
        return None
    if value is None:
        tx.run("delete_cell", {"key": key})
        return live
    cell = Cell(key, value, last + 1, None if ttl is None else tx.now + ttl)
    tx.run("write_cell", (cell.key, cell.value, cell.version, cell.expires_at))
    return cell
