"""What the stages write about an edition; each may be written again with the same result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from causaganha.database import now
from causaganha.tables import decisions, pdfs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from causaganha.decision import Decision
    from causaganha.edition import Edition


def record_pdf(connection: Connection, edition: Edition, **facts: Any) -> int:
    """The row of an edition's file; a second download changes the row, and makes no other."""
    known = connection.execute(select(pdfs.c.id).where(pdfs.c.url == edition.url)).scalar()
    if known is not None:
        connection.execute(update(pdfs).where(pdfs.c.id == known).values(**facts, updated_at=now()))
        return int(known)
    moment = now()
    row = {
        "url": edition.url,
        "date": edition.date,
        "number": edition.number,
        "suffix": edition.suffix,
        "year": edition.year,
        "archive_id": edition.archive_id,
        "created_at": moment,
        "updated_at": moment,
    }
    made = connection.execute(insert(pdfs).values(**row, **facts).returning(pdfs.c.id))
    return int(made.scalar_one())


def change_pdf(connection: Connection, pdf_id: int, **facts: Any) -> None:
    """Note something about an edition."""
    connection.execute(update(pdfs).where(pdfs.c.id == pdf_id).values(**facts, updated_at=now()))


def store_decisions(connection: Connection, pdf_id: int, found: Iterable[Decision]) -> int:
    """An edition's decisions, in the place of those it had; how many different ones."""
    edition = connection.execute(select(pdfs).where(pdfs.c.id == pdf_id)).mappings().one()
    connection.execute(delete(decisions).where(decisions.c.pdf_id == pdf_id))
    rows: dict[str, dict[str, Any]] = {}
    for position, decision in enumerate(found):
        day = _day(decision, edition["date"])
        process = re.sub(r"\D", "", decision.process_number)
        row = {
            **decision.model_dump(),
            "pdf_id": pdf_id,
            "fingerprint": decision.fingerprint,
            "date": day,
            "sort_key": f"{day} {process} {edition['url']} {position:05}",
        }
        rows.setdefault(decision.fingerprint, row)
    if rows:
        connection.execute(insert(decisions), list(rows.values()))
    return len(rows)


def finished_urls(connection: Connection) -> Sequence[str]:
    """The editions that are done, also those that the queue has forgotten."""
    query = select(pdfs.c.url).where(pdfs.c.finished_at.is_not(None))
    return connection.execute(query).scalars().all()


def _day(decision: Decision, printed: str) -> str:
    """The ruling's day; the edition's where none is known, or one after it was printed."""
    return decision.date if decision.date is not None and decision.date <= printed else printed
