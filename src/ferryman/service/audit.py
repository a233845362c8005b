"""Who changed what: a row for every change, in the log always, in cells where there are any."""

from __future__ import annotations

import json
import logging
import re
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import InvalidFilter, Unsupported
from ferryman.queue.cell import read_cell
from ferryman.service.insights import check_page
from ferryman.service.redaction import redacted_filter
from ferryman.telemetry.lines import FIELDS, text_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

LOGGER: Final = logging.getLogger("ferryman.audit")
AUDIT_CELLS: Final = "audit/"
KEPT: Final = 90 * 86_400.0
"""Seconds for which a row is kept at least."""
ROWS: Final = 50
"""Rows of one cell. A cell for each row would leave its key in the store for ever."""

_HEAD: Final = "audit-head"
_AFTER: Final = re.compile(r"(\d{1,12}):(\d{1,6})")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One change; `count` is how many jobs, None where it is not jobs.

    `id` is made here. `request_id` may be the visitor's choice, so it tells no two rows apart.
    """

    id: str
    at: float
    who: str
    act: str
    target: str = ""
    where: str | None = None
    count: int | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Rows, newest first; `next` goes on after them, None at the end."""

    rows: Sequence[AuditRow]
    next: str | None


class Audit:
    """A log in numbered cells of `ROWS` rows each, which several servers append to."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = threading.Lock()

    def add(
        self,
        row_id: str,
        who: str,
        act: str,
        *,
        target: str = "",
        where: str | None = None,
        count: int | None = None,
        request_id: str = "",
    ) -> None:
        """Add a row; the same id and act again is the same row. No visitor may choose the id."""
        shown = None if where is None else redacted_filter(where)
        at = self._backend.clock.now()
        row = AuditRow(row_id, at, who, act, target, shown, count, request_id)
        facts = {name: fact for name, fact in asdict(row).items() if fact not in (None, "")}
        LOGGER.info("%s", text_line("audit", facts), extra={FIELDS: {"event": "audit", **facts}})
        if self._backend.capabilities.cells:
            with self._lock:
                while not self._append(row):
                    pass

    def page(self, *, limit: int = 50, after: str | None = None) -> AuditPage:
        """Rows, newest first."""
        check_page(limit)
        if not self._backend.capabilities.cells:
            raise Unsupported(
                f"{self._backend.capabilities.backend} has no cells to keep audit rows in: "
                "they are in the server's log, from the logger ferryman.audit"
            )
        rows: list[AuditRow] = []
        for number, place, row in self._rows(after):
            if len(rows) == limit:
                return AuditPage(rows, f"{number}:{place + 1}")
            rows.append(row)
        return AuditPage(rows, None)

    def _rows(self, after: str | None) -> Iterator[tuple[int, int, AuditRow]]:
        head = _document(read_cell(self._backend, _HEAD))
        last, below = head.get("last", 1), ROWS
        if after is not None:
            found = _AFTER.fullmatch(after)
            if found is None:
                raise InvalidFilter(f"after={after!r} is not the `next` of a page")
            last, below = min(last, int(found[1])), int(found[2])
        for number in range(last, head.get("first", 1) - 1, -1):
            rows = _document(read_cell(self._backend, _key(number))).get("rows", [])
            for place in range(min(below, len(rows)) - 1, -1, -1):
                yield number, place, AuditRow(**rows[place])
            below = ROWS

    def _append(self, row: AuditRow) -> bool:
        """Whether the row is there; if not, another server was quicker or the cell was full."""
        head = read_cell(self._backend, _HEAD)
        number = _document(head).get("last", 1)
        cell = read_cell(self._backend, _key(number))
        rows = _document(cell).get("rows", [])
        if any((known["id"], known["act"]) == (row.id, row.act) for known in rows):
            return True
        if len(rows) >= ROWS:
            self._turn_page(head)
            return False
        text = json.dumps({"rows": [*rows, asdict(row)]}, separators=(",", ":"))
        expect = 0 if cell is None else cell.version
        return self._backend.write_cell(_key(number), text, expect=expect, ttl=KEPT * 2) is not None

    def _turn_page(self, head: Cell | None) -> None:
        found = {"first": 1, "last": 1, **_document(head)}
        # Deleted before it expires: an expired cell keeps its text in the store.
        rows = _document(read_cell(self._backend, _key(found["first"]))).get("rows", [])
        if not rows or rows[-1]["at"] < self._backend.clock.now() - KEPT:
            self._backend.write_cell(_key(found["first"]), None, expect=None)
            found["first"] += 1
        found["last"] += 1
        expect = 0 if head is None else head.version
        self._backend.write_cell(_HEAD, json.dumps(found), expect=expect)


def _key(number: int) -> str:
    return f"{AUDIT_CELLS}{number:08}"


def _document(cell: Cell | None) -> dict[str, Any]:
    return {} if cell is None else json.loads(cell.value)
