"""A decision as the model read it, whatever the keys it chose."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from causaganha.normalisation import plain

_PROCESS: Final = re.compile(r"[\d.\-]{15,25}")
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "process_number": ("numero_processo", "process_number"),
    "decision_type": ("tipo_decisao", "decision_type"),
    "polo_ativo": ("polo_ativo",),
    "polo_passivo": ("polo_passivo",),
    "lawyers_polo_ativo": ("advogados_polo_ativo", "lawyers_polo_ativo"),
    "lawyers_polo_passivo": ("advogados_polo_passivo", "lawyers_polo_passivo"),
    "outcome": ("resultado", "outcome"),
    "date": ("data", "data_decisao", "date"),
    "summary": ("resumo", "summary"),
    "raw_text": ("raw_text", "texto"),
}
"""Portuguese is what the model is asked for, English what the plan stores; both are read."""
_OLD_PARTIES: Final = {"polo_ativo": "requerente", "polo_passivo": "requerido"}


class InvalidDecision(ValueError):
    """Something the model took for a decision, and why it is none."""


class Decision(BaseModel):
    """A ruling with a defined outcome. `date` is the ruling's own day, if it is known."""

    model_config = ConfigDict(frozen=True)

    process_number: str
    decision_type: str
    polo_ativo: list[str]
    polo_passivo: list[str]
    lawyers_polo_ativo: list[str]
    lawyers_polo_passivo: list[str]
    outcome: str
    date: str | None
    summary: str
    raw_text: str

    @classmethod
    def of(cls, item: Any) -> Decision:
        """Read one; keys that the model invented are ignored. `InvalidDecision` says what lacks."""
        if not isinstance(item, dict):
            raise InvalidDecision(f"not an object: {item!r}")
        found = {name: _first(item, keys) for name, keys in _KEYS.items()}
        parties = item.get("partes")
        for side, old in _OLD_PARTIES.items():
            if found[side] is None and isinstance(parties, dict):
                found[side] = parties.get(old)
        process = found["process_number"]
        if not isinstance(process, str) or not _PROCESS.fullmatch(process.strip()):
            raise InvalidDecision(f"no process number: {process!r}")
        sides = {side: _texts(found[side]) for side in _OLD_PARTIES}
        if empty := [side for side, texts in sides.items() if not texts]:
            raise InvalidDecision(f"{process}: {empty[0]} is empty")
        outcome = _text(found["outcome"])
        if not outcome:
            raise InvalidDecision(f"{process}: no outcome")
        return cls(
            process_number=process.strip(),
            decision_type=_text(found["decision_type"]),
            **sides,
            lawyers_polo_ativo=_texts(found["lawyers_polo_ativo"]),
            lawyers_polo_passivo=_texts(found["lawyers_polo_passivo"]),
            outcome=outcome,
            date=_day(found["date"]),
            summary=_text(found["summary"]),
            raw_text=_text(found["raw_text"]),
        )

    @property
    def fingerprint(self) -> str:
        """The same for the same ruling, also where it is printed again."""
        words = [plain(self.decision_type).lower(), plain(self.outcome).lower(), self.date]
        lawyers = [
            sorted(plain(each).upper() for each in side)
            for side in (self.lawyers_polo_ativo, self.lawyers_polo_passivo)
        ]
        identity = json.dumps([re.sub(r"\D", "", self.process_number), words, lawyers])
        return hashlib.sha256(identity.encode()).hexdigest()


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _text(value: Any) -> str:
    # PostgreSQL keeps no NUL, and a PDF's text may hold any character.
    return value.replace("\0", "").strip() if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [text for each in values if (text := _text(each))]


def _day(value: Any) -> str | None:
    try:
        return date.fromisoformat(_text(value)).isoformat()
    except ValueError:
        return None
