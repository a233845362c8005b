"""`Idempotency-Key`: the same request again makes nothing new, another one is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import Unsupported
from ferryman.ids import child_id
from ferryman.message import MAX_META
from ferryman.service.api_keys import digest
from ferryman.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.message import Message
    from ferryman.queue.contract import Backend

BODY_META: Final = "idempotency_token"
"""The name in a job's `meta` of the hash of the request that brought it.

A name whose values are hidden: what is hidden of a payload could be guessed by its hash.
"""


@dataclass(frozen=True, slots=True)
class Seal:
    """A key of one visitor, and the hash of the whole body that came with it.

    The jobs themselves carry the hash: it lasts as long as their ids are known, and no longer.
    """

    whose: str
    key: str
    body: str

    @classmethod
    def of(cls, whose: str, key: str, body: Any) -> Seal:
        return cls(whose, key, digest(json.dumps([key, body], sort_keys=True))[:32])

    def on(self, message: Message, index: int) -> Message:
        """The message with an id that follows from the key; without the hash if it has no room."""
        meta = message.meta
        if len(meta) < MAX_META:
            meta = {**meta, BODY_META: self.body}
        job_id = child_id(f"{self.whose} {self.key}", 1, "idempotency-key", index)
        return replace(message, id=job_id, meta=meta)

    def refusal(
        self, backend: Backend, messages: Sequence[Message], job_ids: Sequence[str]
    ) -> Problem | None:
        """What to raise if those of the messages that have these ids came in another body before.

        The first of them tells: all jobs of one request have the same hash.
        """
        own = {message.id for message in messages if message.meta.get(BODY_META) == self.body}
        first = next((job_id for job_id in job_ids if job_id in own), None)
        try:
            known = None if first is None else backend.get(first)
        except Unsupported:
            return None  # a store that cannot look a job up does not know its id again either
        if known is None or known.meta.get(BODY_META, self.body) == self.body:
            return None
        return Problem(
            409,
            "conflict",
            "this Idempotency-Key was sent with another body",
            hint="use another key for another request",
        )
