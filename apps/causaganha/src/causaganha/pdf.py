"""The file of an edition: whether it is whole, and its text in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pikepdf
from pypdf import PdfReader
from pypdf.errors import PyPdfError

if TYPE_CHECKING:
    from pathlib import Path

PAGES: Final = 25
OVERLAP: Final = 1
LEAST_BYTES: Final = 1_000


class InvalidPdf(ValueError):
    """Downloaded content is not a valid PDF."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"Downloaded content is not a valid PDF: {path.name}: {reason}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pages `first` to `last`, from 1 on, and the page before them as context."""

    number: int
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"pages {self.first} to {self.last}"


def check_pdf(path: Path) -> None:
    """`InvalidPdf` for what is damaged, also where readers would repair it."""
    with path.open("rb") as file:
        if file.read(5) != b"%PDF-":
            raise InvalidPdf(path, "it does not begin with %PDF-")
    if path.stat().st_size <= LEAST_BYTES:
        raise InvalidPdf(path, f"it has only {path.stat().st_size} bytes")
    try:
        with pikepdf.open(path) as pdf:
            problems = pdf.check_pdf_syntax()
            pages = len(pdf.pages)
        if problems:
            raise InvalidPdf(path, str(problems[0]))
        if not pages or len(PdfReader(path, strict=True).pages) != pages:
            raise InvalidPdf(path, "it has no pages that can be read")
    except (pikepdf.PdfError, PyPdfError) as error:
        raise InvalidPdf(path, str(error)) from error


class Pages:
    """The text of a file, page by page."""

    def __init__(self, path: Path) -> None:
        self._reader = PdfReader(path)

    def chunks(self) -> list[Chunk]:
        """Parts of 25 pages."""
        pages = len(self._reader.pages)
        return [
            Chunk(number, first, min(first + PAGES - 1, pages))
            for number, first in enumerate(range(1, pages + 1, PAGES), 1)
        ]

    def text(self, chunk: Chunk) -> str:
        """A chunk's text, with a line before each page that says what it is."""
        parts = []
        for page in range(max(1, chunk.first - OVERLAP), chunk.last + 1):
            context = " (fim da parte anterior, apenas contexto)" if page < chunk.first else ""
            parts.append(f"=== Página {page}{context} ===")
            parts.append(self._reader.pages[page - 1].extract_text())
        return "\n".join(parts)
