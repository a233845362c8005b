"""push as a statement, for drivers that are not ours: it calls the function of schema/004.sql."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.backends.sql.rows import meta_text
from ferryman.errors import InvalidMessage
from ferryman.queue.joining import Statement

if TYPE_CHECKING:
    from ferryman.backends.postgresql.location import Location
    from ferryman.message import Message
    from ferryman.queue.joining import Style


def push_statement(message: Message, location: Location, style: Style) -> Statement:
    """A call that names only the options which the message has."""
    if message.replace or (message.key is not None and message.unique != "unfinished"):
        option = "replace" if message.replace else "unique"
        raise InvalidMessage(option, "is not for statements: push with connection= instead")
    if message.tenant is not None:
        raise InvalidMessage("tenant", "is not for statements: push with connection= instead")
    options = {name: value for name, value in _options(message).items() if value is not None}
    casts = {"body": "::json", "meta": "::jsonb"}
    calls = [
        f"{name} => {_parameter(number, style)}{casts.get(name, '')}"
        for number, name in enumerate(options, 1)
    ]
    sql = f"SELECT job_id, created FROM {location.schema}.push({', '.join(calls)})"  # noqa: S608 - names only
    return Statement(sql, tuple(options.values()))


def _options(message: Message) -> dict[str, Any]:
    return {
        "queue": message.queue,
        "task": message.task,
        "body": message.body,
        "id": message.id,
        "version": message.version,
        "priority": message.priority,
        "max_attempts": message.max_attempts,
        "delay": message.delay,
        "ready_at": message.ready_at,
        "expires": message.expires,
        "key": message.key,
        "backoff": message.backoff,
        "timeout": message.timeout,
        "correlation_id": message.correlation_id,
        "meta": meta_text(message.meta),
    }


def _parameter(number: int, style: Style) -> str:
    return f"${number}" if style == "numeric" else "%s"
