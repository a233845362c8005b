"""The queues as the four tables of the plan."""

from __future__ import annotations

from typing import Final

_STATUS: Final = {"paused": "pending", "cancelled": "failed"}
"""The plan knows four states; a paused job waits, and a cancelled one did not succeed."""


def _columns(**own: str) -> dict[str, str | dict[str, str]]:
    return {
        "id": "seq",
        **own,
        "status": _STATUS,
        "attempts": "attempts",
        "last_attempt": "started_at",
        "error_message": "error",
        "created_at": "created_at",
        "updated_at": "updated_at",
    }


_PDF: Final = {"pdf_id": "payload.pdf_id:integer", "local_path": "payload.local_path"}

VIEWS: Final[dict[str, tuple[str, dict[str, str | dict[str, str]]]]] = {
    "pdf_discovery_queue": (
        "discovery",
        _columns(
            url="payload.url",
            date="payload.date",
            number="payload.number",
            year="payload.year:integer",
            priority="priority",
            metadata="payload.metadata:json",
        ),
    ),
    "pdf_archive_queue": ("archive", _columns(**_PDF, ia_url="result.ia_url")),
    "pdf_extraction_queue": ("extraction", _columns(**_PDF, extraction_result="result")),
    "rating_processing_queue": (
        "ratings",
        _columns(
            pdf_id="payload.pdf_id:integer",
            decisions_processed="result.decisions_processed:integer",
            ratings_updated="result.ratings_updated:integer",
        ),
    ),
}
"""Name to queue and columns, as `ferry.view` takes them."""
