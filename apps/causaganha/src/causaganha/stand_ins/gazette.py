"""Invented editions: what the court's list says of them, and their files."""

from __future__ import annotations

import hashlib
import io
import random
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

_GIVEN: Final = ("Aurora", "Benício", "Caetana", "Dário", "Elói", "Flora", "Galileu", "Hortênsia")
_FAMILY: Final = ("Jatobá", "Ipê", "Buriti", "Açaí", "Cedro", "Angelim")
_OUTCOMES: Final = (
    "procedente",
    "improcedente",
    "negado_provimento",
    "provido",
    "parcialmente_provido",
    "não_provido",
    "não_definido",
    "rejeitados",
)


@dataclass(frozen=True, slots=True)
class Printed:
    """An edition as the court's list has it: all texts, and a url without the host."""

    day: date
    number: str
    suffix: str
    pages: int

    @property
    def item(self) -> dict[str, str]:
        name = f"{self.day:%Y%m%d}614-NR{self.number}"
        tail = {"": "", ".": "."}.get(self.suffix, f"-{self.suffix}")
        path = f"{name}{tail}.pdf"
        item = {
            "relativePath": path,
            "year": f"{self.day:%Y}",
            "month": f"{self.day:%m}",
            "day": f"{self.day:%d}",
            "number": self.number,
            "url": f"/novodiario/{self.day:%Y}/{path}",
        }
        return {**item, "sufix": self.suffix} if self.suffix else item

    def pdf(self) -> bytes:
        """The same bytes each time."""
        file = io.BytesIO()
        canvas = Canvas(file, pagesize=A4, invariant=1)
        rng = random.Random(self.item["url"])  # noqa: S311
        for page in range(1, self.pages + 1):
            canvas.setFont("Helvetica", 9)
            lines = [f"Diário da Justiça, edição {self.number}{self.suffix}, página {page}"]
            lines += self._ruling(rng, page) if page % 3 == 1 or page % 25 == 0 else _ORDERS
            for row, line in enumerate(lines):
                canvas.drawString(40, 800 - 14 * row, line)
            canvas.showPage()
        canvas.save()
        return file.getvalue()

    def _ruling(self, rng: random.Random, page: int) -> list[str]:
        seed = hashlib.sha256(f"{self.item['url']} {page}".encode()).hexdigest()
        lawyers = rng.sample(LAWYERS, 4)
        active, passive = lawyers[: rng.randint(1, 2)], lawyers[2 : 2 + rng.randint(0, 2)]
        lines = [
            f"Processo: {int(seed[:6], 16) % 10**7:07}-{page:02}.{self.day:%Y}.8.22.0001",
            "Tipo: sentença",
            f"Polo ativo: {rng.choice(_GIVEN)} Fictícia",
            f"Advogados do polo ativo: {'; '.join(active)}",
            "Polo passivo: Companhia Inventada",
            f"Advogados do polo passivo: {'; '.join(passive)}",
            f"Resultado: {rng.choice(_OUTCOMES)}",
        ]
        if rng.random() < 0.7:
            lines.append(f"Data: {self.day - timedelta(days=rng.randint(0, 4))}")
        return [*lines, "Publique-se."]


LAWYERS: Final = [
    f"{given} {family} (OAB/RO {1000 + 7 * index})"
    for index, (given, family) in enumerate((g, f) for g in _GIVEN for f in _FAMILY)
][::3]
_ORDERS: Final = ["Despacho: intime-se.", "Ato ordinatório: ao arquivo."]


def year_of(year: int, editions: int, pages: int = 30) -> Sequence[Printed]:
    """So many editions of a year, oldest first, with the oddities of the real list.

    Among them are a supplement and an annex of the same day and number, one whose suffix is a dot,
    and two numbers on one day.
    """
    day = date(year, 1, 8)
    odd = ["", "SUP", "", "", "ANEXO", "", "."]
    printed: list[Printed] = []
    number = 1
    for index in range(editions):
        suffix = odd[index % len(odd)]
        if suffix and printed:
            printed.append(Printed(printed[-1].day, printed[-1].number, suffix, max(2, pages // 6)))
            continue
        printed.append(Printed(day, f"{number:03}", "", pages + index % 3))
        number += 1
        if index % 7 != 2:  # after the third of seven comes another number on the same day
            day += timedelta(days=1)
    return printed
