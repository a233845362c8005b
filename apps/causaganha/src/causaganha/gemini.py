"""Gemini: decisions out of the text of some pages."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final

import httpx2

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError

    from ferryman import Rate

TIMEOUT: Final = 300.0
MINUTE: Final = 60.0
"""Seconds to wait for a grant: the quota of a minute passes by then, a day's does not."""
USUAL_WAIT: Final = 30.0
"""Seconds to wait after a 429 that does not say how long."""

PROMPT: Final = """\
Você lê uma parte do Diário da Justiça de Rondônia. Liste apenas acórdãos e sentenças com \
resultado definido; ignore despachos e atos ordinatórios. Responda sempre com um array JSON; [] \
se não houver nenhum. Páginas marcadas como contexto servem só para completar a decisão que nelas \
começou: não repita as que nelas terminam. Resumo: até 250 caracteres. Data: AAAA-MM-DD. \
Advogados: "Nome (OAB/UF número)".
"""
_TEXT: Final = {"type": "STRING"}
_TEXTS: Final = {"type": "ARRAY", "items": _TEXT}
SCHEMA: Final = {
    "type": "ARRAY",
    "items": {
        "type": "OBJECT",
        "properties": {
            "numero_processo": _TEXT,
            "tipo_decisao": _TEXT,
            "polo_ativo": _TEXTS,
            "advogados_polo_ativo": _TEXTS,
            "polo_passivo": _TEXTS,
            "advogados_polo_passivo": _TEXTS,
            "resultado": _TEXT,
            "data": _TEXT,
            "resumo": _TEXT,
        },
        "required": ["numero_processo", "polo_ativo", "polo_passivo", "resultado"],
    },
}
_FENCE: Final = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)


class BadAnswer(ValueError):
    """Gemini answered, and the answer is of no use."""


class QuotaSpent(RuntimeError):
    """Gemini asks to wait `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"Gemini's quota is spent for {retry_after:g} s")
        self.retry_after = retry_after


class GeminiDown(RuntimeError):
    """Gemini did not answer, or said that it cannot."""


class GeminiRefused(RuntimeError):
    """Gemini will not answer, and trying again would not help."""


class Gemini:
    """One model, asked one chunk at a time, no faster than `rate`."""

    def __init__(self, address: str, key: str, model: str, rate: Rate) -> None:
        self._address, self._key, self._model = address, key, model
        self._rate = rate
        self._client: Client | None = None
        self._opening = threading.Lock()

    def decisions(self, text: str) -> list[Any]:
        """What the model takes for decisions, as it put them.

        Raises `BadAnswer`, `QuotaSpent`, `GeminiDown`, `GeminiRefused`. A 429 holds back all who
        share the rate.
        """
        client = self._opened()
        from google.genai.errors import APIError
        from google.genai.types import GenerateContentConfig

        config = GenerateContentConfig(
            system_instruction=PROMPT,
            response_mime_type="application/json",
            response_schema=SCHEMA,
            temperature=0.0,
        )
        # Last of all: a grant counts from now, and to set the client up may take a second.
        self._rate.take(wait=MINUTE)
        try:
            answer = client.models.generate_content(model=self._model, contents=text, config=config)
        except APIError as error:
            raise self._understood(error) from error
        except httpx2.TransportError as error:
            raise GeminiDown(f"Gemini did not answer: {error!r}") from error
        return _parsed(answer.text or "")

    def close(self) -> None:
        """Free the connections."""
        if self._client is not None:
            self._client.close()

    def _opened(self) -> Client:
        # One, and kept: a client that nobody holds is closed while it waits for its answer.
        with self._opening:
            if self._client is None:
                from google.genai import Client
                from google.genai.types import HttpOptions

                options = HttpOptions(base_url=self._address, timeout=int(TIMEOUT * 1000))
                self._client = Client(api_key=self._key, http_options=options, vertexai=False)
            return self._client

    def _understood(self, error: APIError) -> Exception:
        if error.code == 429:
            spent = QuotaSpent(_retry_delay(error))
            self._rate.postpone(spent.retry_after)
            return spent
        if error.code >= 500:
            return GeminiDown(f"Gemini answered {error.code}: {error.message}")
        return GeminiRefused(
            f"Gemini refused: {error.code} {error.message}: check GEMINI_API_KEY and "
            f"CAUSAGANHA_GEMINI_MODEL ({self._model})"
        )


def _parsed(text: str) -> list[Any]:
    fenced = _FENCE.match(text)
    try:
        answer = json.loads(fenced[1] if fenced else text)
    except ValueError as error:
        raise BadAnswer(f"Gemini answered no JSON ({error}): {text[:80]!r}") from None
    if isinstance(answer, dict):
        answer = answer.get("decisions", answer.get("decisoes"))
    if not isinstance(answer, list):
        raise BadAnswer(f"Gemini extraction returned invalid data: {text[:80]!r}")
    return answer


def _retry_delay(error: APIError) -> float:
    details: Any = error.details
    told = re.search(r"[\"']retryDelay[\"']\s*:\s*[\"']([\d.]+)s[\"']", json.dumps(details))
    return float(told[1]) if told else USUAL_WAIT
