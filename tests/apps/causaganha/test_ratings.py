"""Ratings do not depend on the order in which editions arrive."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from causaganha.database import CausaGanhaDB
from causaganha.decision import Decision
from causaganha.edition import Edition
from causaganha.ranking import as_csv, ranking
from causaganha.ratings import Rated, TrueSkillRatingSystem
from causaganha.records import record_pdf, store_decisions
from causaganha.tables import matches, ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

OUTCOMES = ("procedente", "improcedente", "parcialmente_provido")


@pytest.fixture
def new_db(tmp_path: Path) -> Iterator[Callable[[], CausaGanhaDB]]:
    made: list[CausaGanhaDB] = []

    def make() -> CausaGanhaDB:
        made.append(CausaGanhaDB(f"sqlite:///{tmp_path}/{len(made)}.db"))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def db(new_db: Callable[[], CausaGanhaDB]) -> CausaGanhaDB:
    return new_db()


def edition(day: str, number: int = 1) -> Edition:
    year, month, of_month = day.split("-")
    item = {"year": year, "month": month, "day": of_month, "number": str(number)}
    return Edition.of({**item, "url": f"/{day}-NR{number}.pdf"}, "https://gazette.test")


def decision(number: int, active: str, passive: str, **others: Any) -> Decision:
    return Decision.of(
        {
            "numero_processo": f"{number:07}-00.2025.8.22.0001",
            "polo_ativo": "A",
            "polo_passivo": "B",
            "advogados_polo_ativo": active.split("+"),
            "advogados_polo_passivo": passive.split("+"),
            "resultado": "procedente",
            **others,
        }
    )


def rate(db: CausaGanhaDB, printed: Edition, found: Sequence[Decision]) -> Rated:
    facts = {"local_path": "x", "file_size": 1, "sha256_hash": "x"}
    with db.writing() as connection:
        pdf_id = record_pdf(
            connection, printed, **facts, download_duration_ms=1, discovery_queue_id=1
        )
        store_decisions(connection, pdf_id, found)
    with db.writing() as connection:
        return TrueSkillRatingSystem(connection).rate_edition(pdf_id)


def count(db: CausaGanhaDB) -> int:
    with db.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(matches)).scalar_one())


def test_every_order_of_arrival_gives_the_same_bytes(new_db: Callable[[], CausaGanhaDB]) -> None:
    rng = random.Random(7)
    names = [f"Lawyer {letter}" for letter in "ABCDEFG"]
    editions = [
        (
            edition(f"2025-06-{day:02}"),
            [
                decision(
                    100 * day + n,
                    "+".join(rng.sample(names[:4], rng.randint(1, 2))),
                    "+".join(rng.sample(names[4:], rng.randint(1, 2))),
                    resultado=rng.choice(OUTCOMES),
                    # Some rule on days before others were printed, some have no date.
                    data=rng.choice([None, f"2025-06-{max(1, day - 3):02}"]),
                )
                for n in range(4)
            ],
        )
        for day in (3, 4, 5, 6)
    ]
    seen = set()
    for order in itertools.permutations(editions):
        db = new_db()
        for printed, found in order:
            rate(db, printed, found)
        rate(db, *order[0])  # and once more
        seen.add(as_csv(ranking(db, least=1)))
    assert len(seen) == 1
    assert seen.pop().count("\n") == 1 + len(names)


def test_an_edition_counts_once_however_often_it_is_rated(db: CausaGanhaDB) -> None:
    found = [decision(1, "Ana", "Rui"), decision(2, "Ana", "Eva")]
    assert rate(db, edition("2025-06-03"), found) == Rated(2, 2)
    before = as_csv(ranking(db, least=1))
    assert rate(db, edition("2025-06-03"), found) == Rated(2, 2)
    assert as_csv(ranking(db, least=1)) == before


def test_a_ruling_printed_again_counts_at_its_first_printing(db: CausaGanhaDB) -> None:
    again = decision(1, "Ana", "Rui")
    assert rate(db, edition("2025-06-05"), [again]) == Rated(1, 1)
    assert rate(db, edition("2025-06-03"), [again]) == Rated(1, 1)
    assert rate(db, edition("2025-06-07"), [again]) == Rated(1, 0)
    assert count(db) == 1
    with db.reading() as connection:
        [match] = connection.execute(select(matches)).mappings().all()
    assert match["data_partida"] == "2025-06-03"


def test_a_second_reading_of_an_edition_takes_the_place_of_the_first(db: CausaGanhaDB) -> None:
    rate(db, edition("2025-06-03"), [decision(1, "Ana", "Rui"), decision(2, "Eva", "Rui")])
    rate(db, edition("2025-06-04"), [decision(3, "Ana", "Bia")])
    assert rate(db, edition("2025-06-03"), [decision(2, "Eva", "Rui")]) == Rated(1, 1)
    with db.reading() as connection:
        rows = connection.execute(select(ratings.c.advogado_id, ratings.c.total_partidas)).all()
    assert {tuple(row) for row in rows} == {("EVA", 1), ("RUI", 1), ("ANA", 1), ("BIA", 1)}


def test_an_undated_decision_has_the_day_of_its_edition_and_no_day_is_after_it(
    db: CausaGanhaDB,
) -> None:
    found = [
        decision(1, "A", "B"),
        decision(2, "C", "D", data="2099-01-01"),
        decision(3, "E", "F", data="2025-06-01"),
    ]
    rate(db, edition("2025-06-03"), found)
    with db.reading() as connection:
        days = connection.execute(select(matches.c.data_partida).order_by(matches.c.sort_key))
        assert days.scalars().all() == ["2025-06-01", "2025-06-03", "2025-06-03"]


def test_what_is_no_match_is_processed_and_rates_nobody(db: CausaGanhaDB) -> None:
    found = [decision(1, "Ana", "Ana"), decision(2, "Ana", "Rui", resultado="rejeitados")]
    assert rate(db, edition("2025-06-03"), found) == Rated(2, 0)
    assert ranking(db, least=0) == []


def test_the_ranking_is_by_mu_less_three_sigma_for_those_with_enough_matches(
    db: CausaGanhaDB,
) -> None:
    found = [decision(n, "Ana", f"Rival {n}") for n in range(3)]
    rate(db, edition("2025-06-03"), found)
    [best] = ranking(db)
    assert (best.position, best.advogado_id, best.total_partidas) == (1, "ANA", 3)
    assert best.score == best.mu - 3 * best.sigma
    everybody = ranking(db, least=1)
    assert [each.score for each in everybody] == sorted(
        (each.score for each in everybody), reverse=True
    )
    assert len(ranking(db, least=1, limit=2)) == 2
