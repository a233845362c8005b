"""Who stands where: by what a lawyer is almost surely worth."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from sqlalchemy import select

from causaganha.skill import Skill
from causaganha.tables import ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from causaganha.database import CausaGanhaDB


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the ranking; `score` is mu − 3 sigma."""

    position: int
    advogado_id: str
    nome: str
    score: float
    mu: float
    sigma: float
    total_partidas: int


def ranking(db: CausaGanhaDB, least: int = 3, limit: int | None = None) -> Sequence[Standing]:
    """The best first, of those with at least `least` matches; equals by id."""
    query = select(ratings).where(ratings.c.total_partidas >= least)
    with db.reading() as connection:
        rows = connection.execute(query).mappings().all()
    scored = [(Skill(row["mu"], row["sigma"]).conservative, row) for row in rows]
    scored.sort(key=lambda each: (-each[0], -each[1]["mu"], each[1]["advogado_id"]))
    return [
        Standing(
            position,
            row["advogado_id"],
            row["nome"],
            score,
            row["mu"],
            row["sigma"],
            row["total_partidas"],
        )
        for position, (score, row) in enumerate(scored[:limit], 1)
    ]


def as_csv(standings: Sequence[Standing]) -> str:
    """The ranking as CSV; numbers to six places."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(each.name for each in fields(Standing))
    for standing in standings:
        writer.writerow(
            f"{value:.6f}" if isinstance(value, float) else value
            for value in asdict(standing).values()
        )
    return text.getvalue()
