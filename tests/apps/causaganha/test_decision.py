"""What the model answers, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from causaganha.decision import Decision, InvalidDecision

PORTUGUESE: dict[str, Any] = {
    "numero_processo": "7001234-56.2024.8.22.0001",
    "tipo_decisao": "sentença",
    "polo_ativo": ["Maria Fictícia"],
    "advogados_polo_ativo": ["Ana Souza (OAB/RO 1)"],
    "polo_passivo": ["Banco Inventado"],
    "advogados_polo_passivo": ["Rui Lima (OAB/RO 2)"],
    "resultado": "procedente",
    "data": "2025-06-24",
    "resumo": "Pedido acolhido.",
}
ENGLISH: dict[str, Any] = {
    "process_number": "7001234-56.2024.8.22.0001",
    "decision_type": "sentença",
    "polo_ativo": ["Maria Fictícia"],
    "lawyers_polo_ativo": ["Ana Souza (OAB/RO 1)"],
    "polo_passivo": ["Banco Inventado"],
    "lawyers_polo_passivo": ["Rui Lima (OAB/RO 2)"],
    "outcome": "procedente",
    "date": "2025-06-24",
    "summary": "Pedido acolhido.",
}


def test_keys_may_be_portuguese_or_english() -> None:
    assert Decision.of(PORTUGUESE) == Decision.of(ENGLISH)


def test_invented_keys_are_ignored_and_missing_lawyers_are_none() -> None:
    item = {**PORTUGUESE, "polo_passivo_2": "x", "polo_passivo_27": ["y"]}
    del item["advogados_polo_passivo"]
    decision = Decision.of(item)
    assert decision.lawyers_polo_passivo == []
    assert decision.polo_passivo == ["Banco Inventado"]


def test_the_old_shape_of_parties_is_read() -> None:
    item = {**PORTUGUESE, "partes": {"requerente": "Maria", "requerido": "Banco"}}
    del item["polo_ativo"], item["polo_passivo"]
    assert Decision.of(item).polo_ativo == ["Maria"]


@pytest.mark.parametrize("day", [None, "", "24/06/2025", "2025-02-30", 7])
def test_what_is_no_date_is_none(day: object) -> None:
    assert Decision.of({**PORTUGUESE, "data": day}).date is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"numero_processo": "123"}, "process number"),
        ({"numero_processo": None}, "process number"),
        ({"polo_ativo": []}, "polo_ativo"),
        ({"polo_passivo": "  "}, "polo_passivo"),
        ({"resultado": ""}, "outcome"),
        ({"resultado": ["procedente"]}, "outcome"),
    ],
)
def test_what_lacks_is_said(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidDecision, match=said):
        Decision.of({**PORTUGUESE, **wrong})


def test_what_is_no_object_is_no_decision() -> None:
    with pytest.raises(InvalidDecision, match="not an object"):
        Decision.of("procedente")


def test_a_reprint_has_the_same_fingerprint_and_another_ruling_has_not() -> None:
    decision = Decision.of(PORTUGUESE)
    again = Decision.of({**PORTUGUESE, "resumo": "Outro resumo.", "tipo_decisao": "SENTENCA"})
    other = Decision.of({**PORTUGUESE, "tipo_decisao": "acórdão"})
    assert decision.fingerprint == again.fingerprint != other.fingerprint


def test_characters_that_a_database_refuses_are_left_out() -> None:
    assert Decision.of({**PORTUGUESE, "resumo": "a\0b"}).summary == "ab"
