"""Gemini's generateContent, which reads the invented gazettes by their layout."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from causaganha.stand_ins.mishaps import Mishaps
from causaganha.stand_ins.server import Answer, Request, StandIn

KEY = "key"
"""The only one that is admitted."""
_FIELDS = {
    "Processo": "numero_processo",
    "Tipo": "tipo_decisao",
    "Polo ativo": "polo_ativo",
    "Advogados do polo ativo": "advogados_polo_ativo",
    "Polo passivo": "polo_passivo",
    "Advogados do polo passivo": "advogados_polo_passivo",
    "Resultado": "resultado",
    "Data": "data",
}
_ENGLISH = {
    "numero_processo": "process_number",
    "tipo_decisao": "decision_type",
    "advogados_polo_ativo": "lawyers_polo_ativo",
    "advogados_polo_passivo": "lawyers_polo_passivo",
    "resultado": "outcome",
    "data": "date",
}
_LISTS = ("polo_ativo", "polo_passivo", "advogados_polo_ativo", "advogados_polo_passivo")
_USELESS = ("429", "503", "broken")
_LINE = re.compile(rf"^({'|'.join(_FIELDS)}): ?(.*)$", re.MULTILINE)


class GeminiStandIn(StandIn):
    """Answers what it finds, context pages included, as models do.

    Mishaps of a chunk: `429` (with a retry delay), `503`, `broken` (half a JSON), `fenced`,
    `english` (other keys), `invalid` (one thing too many that is no decision). `moments` are the
    times of all calls; `failed` counts, by mishap, those whose answer was of no use. About a text
    with `spoilt` in it, no answer is of use. An answer takes `slow` seconds.
    """

    def __init__(self, mishaps: Mishaps | None = None, slow: float = 0.0) -> None:
        super().__init__()
        self._slow = slow
        self.moments: list[float] = []
        self.failed: Counter[str] = Counter()
        self.spoilt: str | None = None
        self.mishaps = mishaps or Mishaps()

    def answer(self, request: Request) -> Answer:
        if request.method != "POST" or not request.path.endswith(":generateContent"):
            return Answer(404)
        if request.headers.get("x-goog-api-key") != KEY:
            return _error(403, "PERMISSION_DENIED")
        if not request.whole:
            return Answer(400)
        asked = json.loads(request.body)
        text = "".join(part["text"] for each in asked["contents"] for part in each["parts"])
        spoilt = self.spoilt is not None and self.spoilt in text
        mishap = "broken" if spoilt else self.mishaps.next(text)
        with self.lock:
            self.moments.append(time.time())
            if mishap in _USELESS:
                self.failed[mishap] += 1
        if mishap == "429":
            return _too_many()
        if mishap == "503":
            return _error(503, "UNAVAILABLE")
        if asked["generationConfig"].get("responseMimeType") != "application/json":
            return _answered("Encontrei algumas decisões.")
        return replace(_answered(_worded(_decisions(text), mishap)), slow=self._slow)


def _decisions(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, value in _LINE.findall(text):
        if name == "Processo":
            found.append({"resumo": "Resumo inventado."})
        if found:
            key = _FIELDS[name]
            parts = [each.strip() for each in value.split(";") if each.strip()]
            found[-1][key] = parts if key in _LISTS else value.strip()
    return found


def _worded(found: list[dict[str, Any]], mishap: str | None) -> str:
    if mishap == "english":
        found = [{_ENGLISH.get(key, key): value for key, value in each.items()} for each in found]
    if mishap == "invalid":
        found = [{"numero_processo": "?", "polo_passivo_2": "x"}, *found]
    text = json.dumps(found, ensure_ascii=False)
    if mishap == "broken":
        return text[: len(text) // 2 + 1]
    return f"```json\n{text}\n```" if mishap == "fenced" else text


def _answered(text: str) -> Answer:
    content = {"role": "model", "parts": [{"text": text}]}
    return Answer.json({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]})


def _too_many() -> Answer:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}
    return _error(429, "RESOURCE_EXHAUSTED", [retry])


def _error(code: int, status: str, details: list[Any] | None = None) -> Answer:
    error = {"code": code, "message": status.lower(), "status": status, "details": details or []}
    return Answer.json({"error": error}, code)
