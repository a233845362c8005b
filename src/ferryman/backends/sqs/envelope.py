"""What a message says when there is no ledger: the whole job, as far as it never changes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import InvalidMessage
from ferryman.job import Job, State
from ferryman.message import MAX_ATTEMPTS, Message, check_int, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.backends.sqs.calls import Delivery

_MARK: Final = "ferryman"
_KIND: Final = "message"


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message with the moments that its push has fixed; `stored` is where a large body lies."""

    id: str
    task: str
    body: str
    priority: int
    version: int
    max_attempts: int
    created_at: float
    ready_at: float
    deadline: float | None = None
    backoff: str | None = None
    timeout: float | None = None
    correlation_id: str | None = None
    meta: Mapping[str, str] | None = None
    stored: str | None = None
    attempts: int = 0
    """Those that were charged to messages which this one replaces."""

    @classmethod
    def of(cls, message: Message, now: float) -> Envelope:
        return cls(
            message.id,
            message.task,
            message.body,
            message.priority,
            message.version,
            message.max_attempts,
            now,
            now + message.delay if message.ready_at is None else message.ready_at,
            None if message.expires is None else now + message.expires,
            message.backoff,
            message.timeout,
            message.correlation_id,
            dict(message.meta) or None,
        )

    def write(self, **more: Any) -> str:
        """The text to send. ASCII: of the other characters SQS refuses some that we allow."""
        said = {name: getattr(self, name) for name in _NAMES}
        said = {name: value for name, value in said.items() if value is not None}
        text = _ascii({_MARK: _KIND, **said, **more})
        if self.stored is not None:
            return text
        body = self.body if self.body.isascii() else _ascii(json.loads(self.body))
        return f'{text[:-1]},"payload":{body}}}'

    @classmethod
    def read(cls, text: str) -> Envelope | None:
        """None for another program's message; `InvalidMessage` for one that was spoilt."""
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(said, dict) or said.get(_MARK) != _KIND:
            return None
        try:
            known = {name: said[name] for name in _NAMES if name in said}
            envelope = cls(body=encode(said.get("payload")), **known)
        except TypeError as error:
            raise InvalidMessage("body", f"is no envelope: {error}") from None
        envelope._check()
        return envelope

    def _check(self) -> None:
        """Refuse what no push could have sent: it would stop the worker that meets it."""
        Message(
            queue="any",
            task=self.task,
            id=self.id,
            version=self.version,
            priority=self.priority,
            ready_at=self.ready_at,
            max_attempts=self.max_attempts,
            backoff=self.backoff,
            timeout=self.timeout,
            correlation_id=self.correlation_id,
            meta=self.meta or {},
        )
        check_int("attempts", self.attempts, 0, MAX_ATTEMPTS)
        for name in ("created_at", "deadline"):
            moment = getattr(self, name)
            if not isinstance(moment, int | float | None) or isinstance(moment, bool):
                raise InvalidMessage(name, f"is not a moment: {moment!r}")

    def job(self, delivery: Delivery, worker: str, *, now: float, lease: float) -> Job:
        """The claim that this delivery is."""
        return Job(
            id=self.id,
            queue=delivery.queue,
            task=self.task,
            body=self.body,
            state=State.PROCESSING,
            priority=self.priority,
            ready_at=self.ready_at,
            seq=0,
            version=self.version,
            attempts=self.attempts + delivery.count,
            max_attempts=self.max_attempts,
            fence=self.attempts + delivery.count,
            generation=1,
            given_back=0,
            created_at=self.created_at,
            started_at=now,
            deadline=self.deadline,
            worker=worker,
            heartbeat_at=now,
            expires_at=now + lease,
            backoff=self.backoff,
            timeout=self.timeout,
            correlation_id=self.correlation_id,
            meta=self.meta or {},
        )


_ascii: Final = json.JSONEncoder(separators=(",", ":")).encode

# The body is written as what it is: JSON inside JSON, readable for others.
_NAMES: Final = tuple(field.name for field in fields(Envelope) if field.name != "body")


def adopted(delivery: Delivery, task: str, now: float) -> Envelope:
    """Another program's bare JSON, as if it had been pushed for `task`."""
    try:
        payload = json.loads(delivery.body)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("body", f"is not JSON: {error}") from None
    message = Message.of(delivery.queue, task, payload, id=f"sqs-{delivery.message_id}")
    return Envelope.of(message, now)
