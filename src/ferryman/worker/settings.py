"""The numbers by which a worker works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A worker's numbers, in seconds. `history` None keeps finished jobs for ever.

    `patience` is how long polling may fail before the worker gives up and exits with code 1;
    `loop_patience` how long a handler may block the event loop before `loop.blocked` tells.
    """

    lease: float = 60.0
    poll_every: float = 1.0
    drain: float = 25.0
    reap_every: float = 5.0
    history: float | None = 7 * 86_400.0
    patience: float = 300.0
    loop_patience: float = 5.0
