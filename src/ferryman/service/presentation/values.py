"""Values as every shape shows them: moments, texts without passwords, documents without secrets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

from ferryman.service.redaction import redacted, redacted_text

UNREADABLE = "(not readable)"

# Kept: to make one takes longer than to read a small document.
_DECODER: Final = json.JSONDecoder(parse_constant=str)


def moment(seconds: float | None) -> str | None:
    """Seconds since the epoch as `2027-01-15T08:00:00.000Z`."""
    if seconds is None:
        return None
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def shown_text(text: str | None) -> str | None:
    """Text of a job's own, with what looks secret hidden."""
    return None if text is None else redacted_text(text)


def shown_json(text: str | None) -> Any:
    """A document of a job's own, with what looks secret hidden."""
    if text is None:
        return None
    try:
        return redacted(_DECODER.decode(text))
    except (ValueError, RecursionError):
        # What another program put into the store may be deeper than any message of ours.
        return UNREADABLE
