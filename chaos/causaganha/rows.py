"""The rows that a passage left in each table, by the edition that they are about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from causaganha.app import SLOTS
from causaganha.tables import decisions, matches, pdfs
from ferryman import Filter, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from causaganha.app import CausaGanha
    from ferryman import Job


@dataclass(frozen=True, slots=True)
class Rows:
    """`finished` are editions at their end; `editions` has, by table, how many rows each has.

    The tables are `pdfs` and the four queues; a job that is not completed is a row of its own
    kind. `rulings` counts decisions and matches by table, edition and ruling.
    """

    finished: frozenset[str]
    editions: dict[str, Counter[str]]
    rulings: Counter[tuple[str, str, str]]

    @classmethod
    def of(cls, app: CausaGanha) -> Rows:
        with app.db.reading() as connection:
            editions = connection.execute(select(pdfs)).mappings().all()
            names = {row["id"]: _name(row["url"]) for row in editions}
            rulings = Counter(
                (table.name, names[row["pdf_id"]], row["fingerprint"])
                for table in (decisions, matches)
                for row in connection.execute(select(table)).mappings()
            )
        queues = {stage: Counter(_row(job, names) for job in _jobs(app, stage)) for stage in SLOTS}
        return cls(
            frozenset(_name(row["url"]) for row in editions if row["finished_at"]),
            {"pdfs": Counter(names.values()), **queues},
            rulings,
        )

    def wrong(self, calm: Rows) -> list[str]:
        """What is not there exactly once, or not as after a calm passage."""
        found = [
            f"{table}: {self.editions[table][name]} rows of {name}"
            for table, counts in calm.editions.items()
            for name in counts | self.editions[table]
            if self.editions[table][name] != 1 or name not in counts
        ]
        differing = (self.rulings - calm.rulings) + (calm.rulings - self.rulings)
        return [*found, *(f"{table}: {name}: {which}" for table, name, which in differing)]


def _jobs(app: CausaGanha, stage: str) -> Iterator[Job]:
    where, after = Filter.parse(f"queue:{stage} task:{stage}"), None
    while True:
        page = app.ferry.backend.list(where, limit=500, after=after)
        yield from page.jobs
        after = page.next
        if after is None:
            return


def _row(job: Job, names: Mapping[int, str]) -> str:
    payload = job.payload
    name = _name(payload["url"]) if "url" in payload else names[payload["pdf_id"]]
    return name if job.state is State.COMPLETED else f"{name} ({job.state})"


def _name(url: str) -> str:
    """Its file: the court's address differs between two passages."""
    return url.rpartition("/")[2]
