"""The court's site: lists of editions, and their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import httpx2

from causaganha.download import download
from causaganha.edition import Edition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from causaganha.download import Download
    from ferryman import Rate

HEADERS: Final = {
    "User-Agent": "Mozilla/5.0 (compatible; CausaGanha/1.0)",
    "Accept": "application/json, application/pdf;q=0.9, */*;q=0.8",
    "Accept-Language": "pt-BR,pt;q=0.9",
}
"""The site answers 403 to callers that do not look like a browser."""
LIST_TIMEOUT: Final = 30.0
USUAL_WAIT: Final = 60.0
"""Seconds to wait after a 429 that does not say how long."""


class TooManyRequests(httpx2.HTTPStatusError):
    """The site asks to wait `retry_after` seconds."""

    def __init__(self, response: httpx2.Response) -> None:
        told = response.headers.get("Retry-After", "")
        self.retry_after = float(told) if told.isdigit() else USUAL_WAIT
        text = f"{response.url.host} asks to wait {self.retry_after:g} s"
        super().__init__(text, request=response.request, response=response)


class Tjro:
    """Reads `address` as a browser would, no faster than `rate`.

    A 429 holds back all who share the rate, and is raised as `TooManyRequests`.
    """

    def __init__(self, address: str, rate: Rate) -> None:
        self._address = address.rstrip("/")
        self._rate = rate
        self._http = httpx2.Client(headers=HEADERS, follow_redirects=True)

    def year(self, year: int) -> Sequence[Edition]:
        """All editions of a year, oldest first."""
        return self._editions(f"/diario_oficial/list.php?ano={year}")

    def latest(self) -> Sequence[Edition]:
        """The newest edition, with its supplements."""
        return self._editions("/diario_oficial/data-ultimo-diario.php")

    def download(self, edition: Edition, path: Path) -> Download:
        """Bring an edition's file to `path`, where it appears whole or not at all."""
        self._rate.take()
        return download(self._http, edition.url, path, self._check)

    def close(self) -> None:
        """Free the connections."""
        self._http.close()

    def _editions(self, place: str) -> Sequence[Edition]:
        self._rate.take(wait=LIST_TIMEOUT)
        response = self._http.get(self._address + place, timeout=LIST_TIMEOUT)
        self._check(response)
        try:
            items: Any = response.json()
        except ValueError:
            raise ValueError(
                f"{self._address}{place} answered no JSON: {response.text[:80]!r}"
            ) from None
        # The endpoint of the newest edition has been seen to answer one object.
        listed = items if isinstance(items, list) else [items]
        editions = {each.url: each for each in (Edition.of(one, self._address) for one in listed)}
        return sorted(editions.values(), key=lambda each: (each.date, each.url))

    def _check(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            told = TooManyRequests(response)
            self._rate.postpone(told.retry_after)
            raise told
        response.raise_for_status()
