"""Opening a store that may be out of reach just now, as a process manager does: again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ferryman import BackendUnavailable
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from ferryman import Ferry
    from ferryman.queue.contract import Backend

AGAIN: Final = 0.1


def opened(url: str) -> Backend:
    """The store, as soon as it answers."""
    while True:
        try:
            return open_backend(url)
        except BackendUnavailable:
            time.sleep(AGAIN)


def launched(ferry: Ferry) -> Ferry:
    """The same Ferry with its store open."""
    while True:
        try:
            ferry.backend  # noqa: B018 - opens it
        except BackendUnavailable:
            time.sleep(AGAIN)
        else:
            return ferry
