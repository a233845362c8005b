"""Names, teams and outcomes."""

from __future__ import annotations

import pytest

from causaganha.normalisation import Lawyer
from causaganha.outcome import result_of
from causaganha.teams import Teams


@pytest.mark.parametrize(
    ("mention", "identity", "name"),
    [
        ("Dra. Ana Souza (OAB/RO 1234)", "OAB/RO 1234", "ANA SOUZA"),
        ("ANA  SOUZA LIMA - OAB/RO nº 1.234", "OAB/RO 1234", "ANA SOUZA LIMA"),
        ("Dra.Ana Souza (OAB RO 01234)", "OAB/RO 1234", "ANA SOUZA"),
        ("Ana Souza, OAB/RO-1234", "OAB/RO 1234", "ANA SOUZA"),
        ("Ana Souza (OAB 1234/RO)", "OAB/RO 1234", "ANA SOUZA"),
        ("José Conceição (OAB/RO 303-B)", "OAB/RO 303-B", "JOSE CONCEICAO"),
        ("José Conceição (OAB/RO 303)", "OAB/RO 303", "JOSE CONCEICAO"),
        ("Dr. Doutor João Açaí", "JOAO ACAI", "JOAO ACAI"),
        ("Defensoria Pública do Estado", "DEFENSORIA PUBLICA DO ESTADO", None),
        ("Adriana Drago (OAB/SP 7)", "OAB/SP 7", "ADRIANA DRAGO"),
        ("OAB/RO 55", "OAB/RO 55", "OAB/RO 55"),
    ],
)
def test_a_lawyer_is_known_by_registration_else_by_name(
    mention: str, identity: str, name: str | None
) -> None:
    lawyer = Lawyer.of(mention)
    assert lawyer is not None
    assert (lawyer.id, lawyer.name) == (identity, name or identity)


@pytest.mark.parametrize("mention", ["", "  ", "Dr.", " - "])
def test_what_names_nobody_is_nobody(mention: str) -> None:
    assert Lawyer.of(mention) is None


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        ("procedente", "win_a"),
        ("PROVIDO", "win_a"),
        ("confirmada", "win_a"),
        ("improcedente", "win_b"),
        ("negado_provimento", "win_b"),
        ("não_provido", "win_b"),
        ("nao_provido", "win_b"),
        ("reformada", "win_b"),
        ("parcialmente_procedente", "draw"),
        ("parcialmente provido", "draw"),
        ("extinto sem resolução de mérito", "draw"),
        ("não_definido", "draw"),
        ("não_conhecida", None),
        ("rejeitados", None),
        ("", None),
    ],
)
def test_an_outcome_says_who_won_or_nothing(outcome: str, result: str | None) -> None:
    assert result_of(outcome) == result


def test_a_team_names_each_lawyer_once_and_in_order() -> None:
    teams = Teams.of(["Rui (OAB/RO 9)", "Dr. Rui Sá (OAB/RO 9)", "Ana (OAB/RO 1)"], ["Eva"])
    assert teams is not None
    assert teams.active == ("OAB/RO 1", "OAB/RO 9")
    assert teams.passive == ("EVA",)
    assert teams.names == {"OAB/RO 1": "ANA", "OAB/RO 9": "RUI SA", "EVA": "EVA"}


@pytest.mark.parametrize(
    ("active", "passive"),
    [([], ["Eva"]), (["Eva"], []), (["Eva"], ["EVA"]), (["Eva", "Ana"], ["Ana"])],
)
def test_without_two_different_sides_there_is_no_match(
    active: list[str], passive: list[str]
) -> None:
    assert Teams.of(active, passive) is None


def test_who_stands_on_both_sides_plays_on_neither() -> None:
    teams = Teams.of(["Eva", "Ana"], ["Ana", "Rui"])
    assert teams is not None
    assert (teams.active, teams.passive) == (("EVA",), ("RUI",))
