"""Small shared values with compare-and-set, each in a folder that is its lock."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import Unreadable, parse
from ferryman.backends.files.moments import moment_of, text_of, whole
from ferryman.backends.files.names import name_of
from ferryman.queue.answers import Cell

if TYPE_CHECKING:
    from ferryman.backends.files.store import Store

KEPT: Final = 86_400.0
"""Seconds for which the version of a deleted cell is remembered."""


def read_cells(store: Store, prefix: str) -> list[Cell]:
    """Living cells whose key starts with `prefix`, by key."""
    now = store.now()
    store.check_root()
    cells = []
    for name in store.disk.names(store.layout.cells) or ():
        facts = _facts(store.disk.read(f"{store.layout.cells}/{name}/cell.json"))
        cell = _living(facts, now)
        if cell is not None and cell.key.startswith(prefix):
            cells.append(cell)
    return sorted(cells, key=lambda cell: cell.key)


def write_cell(
    store: Store, key: str, value: str | None, *, expect: int | None, ttl: float | None
) -> Cell | None:
    """Write or delete if the version is the expected one; see the contract."""
    folder = f"{store.layout.cells}/{name_of(key)}"
    lock = store.disk.lock(folder)
    while lock is None:
        if store.disk.make_folder(folder):
            store.disk.sync_folder(store.layout.cells)
        lock = store.disk.lock(folder)
    try:
        now = store.now()
        facts = _facts(store.disk.read("cell.json", lock))
        cell = _living(facts, now)
        if expect is not None and expect != (0 if cell is None else cell.version):
            _make_durable(store, folder, lock)
            return None
        if value is None and cell is None:
            _make_durable(store, folder, lock)
            return None
        if not facts:
            store.disk.sync_folder(store.layout.cells)
        version = facts.get("version", 0)
        expires_at = None if ttl is None else whole(now + ttl)
        written = cell if value is None else Cell(key, value, version + 1, expires_at)
        # A deleted cell leaves its version behind: the next one goes on counting from there.
        content = _text(key, value, version if value is None else version + 1, expires_at)
        store.put_at(lock, folder, "cell.json", content, sync=True)
        return written
    finally:
        store.disk.unlock(lock)


def _make_durable(store: Store, folder: str, lock: int) -> None:
    """Whoever wrote what decides here may have died before that was durable."""
    store.disk.sync_folder(folder, lock)
    store.disk.sync_folder(store.layout.cells)


def forget_old(store: Store) -> None:
    """Remove what is left of cells that were deleted, or expired, over a day ago."""
    now = store.file_clock.now()
    for name in store.disk.names(store.layout.cells) or ():
        folder = f"{store.layout.cells}/{name}"
        found = store.disk.look(f"{folder}/cell.json")
        if found is None or now - found.changed_at < KEPT:
            continue
        lock = store.disk.lock(folder)
        if lock is None:
            continue
        try:
            if _living(_facts(store.disk.read("cell.json", lock)), store.now()) is None:
                store.disk.unlink("cell.json", lock)
                store.disk.remove_folder(folder)
        finally:
            store.disk.unlock(lock)


def _facts(content: bytes | None) -> dict[str, Any]:
    try:
        return {} if content is None else parse(content)
    except Unreadable:
        return {}


def _living(facts: dict[str, Any], now: float) -> Cell | None:
    value, until = facts.get("value"), facts.get("expires_at")
    if value is None:
        return None
    expires_at = None if until is None else moment_of(until)
    if expires_at is not None and expires_at <= now:
        return None
    return Cell(facts["key"], value, facts["version"], expires_at)


def _text(key: str, value: str | None, version: int, expires_at: float | None) -> bytes:
    until = None if expires_at is None else text_of(expires_at)
    facts = {"key": key, "value": value, "version": version, "expires_at": until}
    return json.dumps(facts, ensure_ascii=False, indent=2).encode() + b"\n"
