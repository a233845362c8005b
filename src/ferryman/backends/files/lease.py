"""A worker's claim on one job, as `lease.json` tells it."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from typing import Any

from ferryman.backends.files.moments import moment_of, text_of


class Lease:
    """The fields of `lease.json`. `boot` and `until` are the same end by this boot's own clock.

    `until` is seconds of CLOCK_BOOTTIME, which no administrator and no summer time can set.
    `nonce` makes each writing of the file different from every other.
    """

    __slots__ = (
        "attempts",
        "boot",
        "created_at",
        "expires_at",
        "fence",
        "heartbeat_at",
        "nonce",
        "note",
        "percent",
        "turn",
        "until",
        "worker",
    )

    def __init__(
        self, worker: str, now: float, *, fence: int, attempts: int, turn: int, nonce: str
    ) -> None:
        self.worker = worker
        self.fence = fence
        self.attempts = attempts
        self.turn = turn
        self.nonce = nonce
        self.created_at = self.heartbeat_at = self.expires_at = now
        self.boot: str | None = None
        self.until: float | None = None
        self.percent: float | None = None
        self.note: str | None = None

    def text(self) -> bytes:
        text = (
            f'{{\n  "worker_id": {quoted(self.worker)},\n  "fence": {self.fence},\n'
            f'  "attempts": {self.attempts},\n  "turn": {self.turn},\n'
            f'  "created_at": "{text_of(self.created_at)}",\n'
            f'  "heartbeat_at": "{text_of(self.heartbeat_at)}",\n'
            f'  "expires_at": "{text_of(self.expires_at)}",\n'
        )
        if self.boot is not None:
            text += f'  "boot_id": "{self.boot}",\n  "boottime": {self.until!r},\n'
        if self.percent is not None:
            text += f'  "percent": {self.percent!r},\n'
        if self.note is not None:
            text += f'  "note": {quoted(self.note)},\n'
        return f'{text}  "nonce": "{self.nonce}"\n}}\n'.encode()

    @classmethod
    def read(cls, content: bytes) -> Lease | None:
        """The lease that a file holds; None if it is torn or was made by nobody we know."""
        try:
            facts: dict[str, Any] = json.loads(content)
            lease = cls(
                facts["worker_id"],
                moment_of(facts["created_at"]),
                fence=int(facts["fence"]),
                attempts=int(facts["attempts"]),
                turn=int(facts["turn"]),
                nonce=facts["nonce"],
            )
            lease.heartbeat_at = moment_of(facts["heartbeat_at"])
            lease.expires_at = moment_of(facts["expires_at"])
            lease.boot = facts.get("boot_id")
            lease.until = facts.get("boottime")
            lease.percent = facts.get("percent")
            lease.note = facts.get("note")
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return None
        return lease if lease._fits() else None

    def _fits(self) -> bool:
        """Whether the fields are of the types that we write: people may have been there."""
        texts = (self.worker, self.nonce, self.boot or "", self.note or "")
        numbers = (self.until or 0.0, self.percent or 0.0)
        return all(isinstance(text, str) for text in texts) and all(
            isinstance(number, int | float) for number in numbers
        )
