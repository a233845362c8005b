"""Ratings as the result of all matches in their order, whatever the order they arrive in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from causaganha.database import now
from causaganha.outcome import result_of
from causaganha.skill import Skill, play
from causaganha.tables import decisions, matches, pdfs, ratings
from causaganha.teams import Teams, fuller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, RowMapping

    from causaganha.outcome import Result


@dataclass(frozen=True, slots=True)
class Rated:
    """What rating an edition came to."""

    decisions_processed: int
    ratings_updated: int


class TrueSkillRatingSystem:
    """Plays the decisions of rated editions by day, then process number.

    An edition that comes late is put where it belongs: what was played from its first decision on
    is taken back, and played again with it. So the ratings are those of all matches in order, and
    each ruling counts once: at its first printing. Needs the transaction of the only writer.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rate_edition(self, pdf_id: int) -> Rated:
        """Count an edition's decisions, once however often it is asked."""
        run = self._connection.execute
        run(update(pdfs).where(pdfs.c.id == pdf_id).values(rated_at=now()))
        start = self._first_of(pdf_id)
        if start is not None:
            book = self._take_back(start)
            self._play(start, book)
            book.write()
        of_edition = select(func.count()).where(decisions.c.pdf_id == pdf_id)
        played = select(func.count()).where(matches.c.pdf_id == pdf_id)
        return Rated(run(of_edition).scalar_one(), run(played).scalar_one())

    def _first_of(self, pdf_id: int) -> str | None:
        """Where the edition begins, or began when it was rated before."""
        firsts = [
            self._connection.execute(
                select(func.min(table.c.sort_key)).where(table.c.pdf_id == pdf_id)
            ).scalar()
            for table in (decisions, matches)
        ]
        return min(filter(None, firsts), default=None)

    def _take_back(self, start: str) -> _Book:
        later = matches.c.sort_key >= start
        undone = self._connection.execute(
            select(matches).where(later).order_by(matches.c.sort_key)
        ).mappings()
        book = _Book(self._connection)
        for match in undone:
            book.take_back(match)
        self._connection.execute(delete(matches).where(later))
        return book

    def _play(self, start: str, book: _Book) -> None:
        todo = self._connection.execute(
            select(decisions)
            .join(pdfs)
            .where(decisions.c.sort_key >= start, pdfs.c.rated_at.is_not(None))
            .order_by(decisions.c.sort_key)
        ).mappings()
        again = select(decisions.c.fingerprint).where(decisions.c.sort_key >= start)
        known = select(matches.c.fingerprint).where(matches.c.fingerprint.in_(again))
        played = set(self._connection.execute(known).scalars())
        rows = []
        for decision in todo:
            match = None if decision["fingerprint"] in played else _match(decision, book)
            if match is not None:
                played.add(decision["fingerprint"])
                rows.append(match)
        if rows:
            self._connection.execute(insert(matches), rows)


def _match(decision: RowMapping, book: _Book) -> Mapping[str, Any] | None:
    result = result_of(decision["outcome"])
    teams = Teams.of(decision["lawyers_polo_ativo"], decision["lawyers_polo_passivo"])
    if result is None or teams is None:
        return None
    before, after = book.play(teams, result)
    return {
        "fingerprint": decision["fingerprint"],
        "pdf_id": decision["pdf_id"],
        "sort_key": decision["sort_key"],
        "data_partida": decision["date"],
        "numero_processo": decision["process_number"],
        "equipe_a_ids": list(teams.active),
        "equipe_b_ids": list(teams.passive),
        "ratings_equipe_a_antes": {each: before[each] for each in teams.active},
        "ratings_equipe_b_antes": {each: before[each] for each in teams.passive},
        "ratings_equipe_a_depois": {each: after[each] for each in teams.active},
        "ratings_equipe_b_depois": {each: after[each] for each in teams.passive},
        "resultado_partida": result,
    }


class _Book:
    """The ratings of those who play, read when they are first needed and written at the end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._skills: dict[str, Skill] = {}
        self._counts: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._since: dict[str, str] = {}

    def take_back(self, match: RowMapping) -> None:
        """Undo a match; called from the earliest on, so the first one tells what was before all."""
        for side in ("a", "b"):
            for lawyer, (mu, sigma) in match[f"ratings_equipe_{side}_antes"].items():
                if lawyer not in self._skills:
                    self._read(lawyer)
                    self._skills[lawyer] = Skill(mu, sigma)
                self._counts[lawyer] -= 1

    def play(
        self, teams: Teams, result: Result
    ) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        """Ratings of all who took part, before and after."""
        everybody = (*teams.active, *teams.passive)
        for lawyer in everybody:
            if lawyer not in self._skills:
                self._read(lawyer)
            self._counts[lawyer] += 1
            self._names[lawyer] = fuller(self._names[lawyer], teams.names[lawyer])
        before = {each: _pair(self._skills[each]) for each in everybody}
        one, other = play(
            [self._skills[each] for each in teams.active],
            [self._skills[each] for each in teams.passive],
            result,
        )
        self._skills.update(zip(everybody, [*one, *other], strict=True))
        return before, {each: _pair(self._skills[each]) for each in everybody}

    def write(self) -> None:
        moment = now()
        touched = list(self._skills)
        for some in _slices(touched):
            self._connection.execute(delete(ratings).where(ratings.c.advogado_id.in_(some)))
        rows = [
            {
                "advogado_id": lawyer,
                "nome": self._names[lawyer],
                "mu": self._skills[lawyer].mu,
                "sigma": self._skills[lawyer].sigma,
                "total_partidas": self._counts[lawyer],
                "created_at": self._since.get(lawyer, moment),
                "updated_at": moment,
            }
            for lawyer in touched
            if self._counts[lawyer]
        ]
        if rows:
            self._connection.execute(insert(ratings), rows)

    def _read(self, lawyer: str) -> None:
        query = select(ratings).where(ratings.c.advogado_id == lawyer)
        row = self._connection.execute(query).mappings().one_or_none()
        if row is None:
            self._skills[lawyer], self._counts[lawyer], self._names[lawyer] = Skill(), 0, ""
            return
        self._skills[lawyer] = Skill(row["mu"], row["sigma"])
        self._counts[lawyer], self._names[lawyer] = row["total_partidas"], row["nome"]
        self._since[lawyer] = row["created_at"]


def _pair(skill: Skill) -> list[float]:
    return [skill.mu, skill.sigma]


def _slices(values: Sequence[str], size: int = 500) -> list[Sequence[str]]:
    return [values[start : start + size] for start in range(0, len(values), size)]
