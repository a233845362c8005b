"""The court's site."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from causaganha.stand_ins.mishaps import Mishaps
from causaganha.stand_ins.server import Answer, Request, StandIn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from causaganha.stand_ins.gazette import Printed


class TjroStandIn(StandIn):
    """Lists and files of `editions`. Mishaps of a file: `429`, `503`, `cut`, `slow`, `html`.

    Callers that do not look like a browser of Brazil get 403; more than `most` requests within a
    minute get 429. `served` counts the files that were answered whole, by path.
    """

    def __init__(
        self, editions: Sequence[Printed], mishaps: Mishaps | None = None, *, most: int = 10_000
    ) -> None:
        super().__init__()
        self.editions = editions
        self.served: Counter[str] = Counter()
        self.mishaps = mishaps or Mishaps()
        self._most = most
        self._moments: list[float] = []
        self._files: dict[str, bytes] = {}
        self._making = threading.Lock()

    def print(self, editions: Sequence[Printed]) -> None:
        """Have these from now on, also in the place of others."""
        with self._making:
            self.editions = editions
            self._files.clear()

    def answer(self, request: Request) -> Answer:
        if not _looks_like_a_browser(request):
            return Answer(403, "Página bloqueada".encode())
        if self._too_many():
            return Answer(429, headers={"Retry-After": "1"})
        if request.path == "/diario_oficial/list.php":
            year = request.query.get("ano")
            items = [each.item for each in self.editions]
            return Answer.json([item for item in reversed(items) if item["year"] == year])
        if request.path == "/diario_oficial/data-ultimo-diario.php":
            last = max(each.day for each in self.editions)
            items = [each.item for each in self.editions if each.day == last]
            return Answer.json(items if len(items) > 1 else items[0])
        for each in self.editions:
            if each.item["url"] == request.path:
                return self._file(each, request.path)
        return Answer(404)

    def _file(self, printed: Printed, path: str) -> Answer:
        with self._making:
            body = self._files.get(path) or self._files.setdefault(path, printed.pdf())
        headers = {"Content-Type": "application/pdf"}
        match self.mishaps.next(path):
            case "429":
                return Answer(429, headers={"Retry-After": "1"})
            case "503":
                return Answer(503)
            case "cut":
                return Answer(200, body, headers, cut=True)
            case "html":
                return Answer(200, b"<html>manutencao</html>" * 99, {"Content-Type": "text/html"})
            case "slow":
                return Answer(200, body, headers, slow=0.5)
        with self.lock:
            self.served[path] += 1
        return Answer(200, body, headers)

    def _too_many(self) -> bool:
        now = time.monotonic()
        with self.lock:
            self._moments = [each for each in self._moments if each > now - 60]
            self._moments.append(now)
            return len(self._moments) > self._most


def _looks_like_a_browser(request: Request) -> bool:
    browser = request.headers.get("user-agent", "")
    language = request.headers.get("accept-language", "")
    return browser.startswith("Mozilla/5.0") and "accept" in request.headers and "pt-BR" in language
