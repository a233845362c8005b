"""One edition of the gazette, as the court's list describes it."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import BaseModel, ConfigDict


class Edition(BaseModel):
    """An edition or a supplement. The URL is its identity: two of them may share a day and number.

    `date` is YYYY-MM-DD; `metadata` is the list's item as it came.
    """

    model_config = ConfigDict(frozen=True)

    url: str
    date: str
    number: str
    suffix: str
    year: int
    metadata: dict[str, Any]

    @classmethod
    def of(cls, item: dict[str, Any], address: str) -> Edition:
        """Read an item of `list.php`, whose numbers are texts and whose url lacks the host."""
        try:
            day = date(int(item["year"]), int(item["month"]), int(item["day"]))
            url = urljoin(f"{address}/", str(item["url"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not an edition of the gazette: {item!r} ({error!r})") from None
        # Only `number` and `sufix` (sic) are sometimes missing.
        return cls(
            url=url,
            date=day.isoformat(),
            number=str(item.get("number") or ""),
            suffix=str(item.get("sufix") or ""),
            year=day.year,
            metadata=item,
        )

    @property
    def id(self) -> str:
        """The id of the edition's run through the pipeline."""
        return f"edition-{hashlib.sha256(self.url.encode()).hexdigest()[:32]}"

    @property
    def label(self) -> str:
        """How people name it: 2025/115, 2025/115-SUP."""
        return f"{self.year}/{self.number}" + (f"-{self.suffix}" if self.suffix else "")

    @property
    def archive_id(self) -> str:
        """The identifier of its item in the Internet Archive: one for each edition or supplement.

        What an identifier may not hold is spelled by its code: the suffix "." becomes "x2e".
        """
        parts = ["causaganha-tjro", self.date, f"nr{_spelled(self.number)}"]
        return "-".join([*parts, _spelled(self.suffix)] if self.suffix else parts)

    @property
    def path(self) -> str:
        """Where its file goes below the data folder: like the URL, so that none meets another."""
        segments = [unquote(each) for each in urlsplit(self.url).path.split("/") if each]
        if not segments or any(each in (".", "..") for each in segments):
            raise ValueError(f"edition {self.label}: no file name in {self.url}")
        return "/".join(quote(each, safe="-_.") for each in segments)


def _spelled(text: str) -> str:
    return re.sub(r"[^0-9a-z]", lambda found: f"x{ord(found[0]):x}", text.lower())
