"""Hides the values of secret names in filters; what is hidden elsewhere is told by telemetry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ferryman.telemetry.redaction import HIDDEN, redacted, redacted_text
from ferryman.telemetry.secret_names import looks_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HIDDEN", "hides", "redacted", "redacted_filter", "redacted_text"]

# As `filter.py` writes them, and the rest of one that is cut off inside its quotes.
_CONDITION: Final = re.compile(
    r"""\b((?:payload|meta)\.[\w.\-]+):((?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s",]+)"""
    r"""(?:,(?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s",]+))*)"""
)


def redacted_filter(text: str) -> str:
    """A filter, or a text that repeats one, with the values of secret names hidden."""
    return redacted_text(_CONDITION.sub(_hide_value, text))


def hides(path: Sequence[str]) -> bool:
    """Whether what this path leads to is hidden: one of its names is that of a secret."""
    return any(looks_secret(name, "") for name in path)


def _hide_value(condition: re.Match[str]) -> str:
    return f"{condition[1]}:{HIDDEN}" if hides(condition[1].split(".")) else condition[0]
