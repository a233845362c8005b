"""What each stage hands to the next."""

from __future__ import annotations

from pydantic import BaseModel

from causaganha.decision import Decision  # noqa: TC001 - pydantic reads it
from causaganha.edition import Edition  # noqa: TC001 - pydantic reads it


class Pdf(BaseModel):
    """An edition's file on disk."""

    pdf_id: int
    local_path: str
    sha256: str
    edition: Edition


class Archived(Pdf):
    """The same, with its place in the archive."""

    ia_url: str


class Extraction(BaseModel):
    """What Gemini found in an edition; `set_aside` are things it took for decisions."""

    pdf_id: int
    file_name_source: str
    extraction_timestamp: str
    chunks_processed: int
    total_decisions_found: int
    decisions: list[Decision]
    set_aside: list[str]


class RatedEdition(BaseModel):
    """What an edition did to the ratings."""

    pdf_id: int
    decisions_processed: int
    ratings_updated: int
