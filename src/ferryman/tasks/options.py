"""How one job is pushed and run: a task's defaults, overridden by `using`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.errors import InvalidMessage
from ferryman.message import check_seconds
from ferryman.outcomes import Retry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferryman.message import Unique

Seconds = float | timedelta

DEFAULT_PRIORITIES: Mapping[str, int] = {"high": 10, "normal": 0, "low": -10}
DEFAULT_TIMEOUT = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything about a job but its payload. Durations are seconds or timedeltas.

    `at` is an aware datetime and excludes `delay`; `key` and `unique` prevent a second job;
    `id` makes the push repeatable; `expires` cancels the job if it has not started by then;
    jobs of different `tenant`s take turns in their queue.
    """

    queue: str = "default"
    priority: int | str = 0
    delay: Seconds = 0.0
    at: datetime | None = None
    expires: Seconds | None = None
    key: str | None = None
    unique: Unique | timedelta = "unfinished"
    id: str | None = None
    replace: bool = False
    retry: Retry = field(default_factory=Retry)
    timeout: Seconds | None = None
    correlation_id: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    tenant: str | None = None

    def using(self, **changes: Any) -> Options:
        """A copy with other options; an unknown one is refused by name."""
        if unknown := changes.keys() - set(self.__slots__):
            known = ", ".join(self.__slots__)
            raise InvalidMessage(min(unknown), f"is not an option: use {known}")
        return replace(self, **changes)

    def fields(self, priorities: Mapping[str, int]) -> dict[str, Any]:
        """The fields of a `Message`, all but task, body and version."""
        unique = self.unique
        fields = {
            "queue": self.queue,
            "priority": _priority(self.priority, priorities),
            "delay": seconds("delay", self.delay),
            "ready_at": _moment(self.at),
            "expires": optional_seconds("expires", self.expires),
            "key": self.key,
            "unique": unique.total_seconds() if isinstance(unique, timedelta) else unique,
            "replace": self.replace,
            "max_attempts": self.retry.max_attempts,
            "backoff": self.retry.backoff.text(),
            "timeout": optional_seconds("timeout", self.timeout),
            "correlation_id": self.correlation_id,
            "meta": dict(self.meta) if isinstance(self.meta, dict) else self.meta,
            "tenant": self.tenant,
        }
        return fields if self.id is None else {**fields, "id": self.id}


def seconds(field_name: str, value: Seconds) -> float:
    """A duration in seconds, from a number or a timedelta; negative ones are refused."""
    number = value.total_seconds() if isinstance(value, timedelta) else value
    check_seconds(field_name, number)
    return float(number)


def optional_seconds(field_name: str, value: Seconds | None) -> float | None:
    return None if value is None else seconds(field_name, value)


def _priority(value: int | str, labels: Mapping[str, int]) -> int:
    if not isinstance(value, str):
        return value
    if value not in labels:
        raise InvalidMessage(
            "priority", f"{value!r} is unknown: use {', '.join(labels)} or a number"
        )
    return labels[value]


def _moment(at: object) -> float | None:
    if at is None:
        return None
    if not isinstance(at, datetime):
        raise InvalidMessage("at", f"must be a datetime, not {type(at).__name__}")
    if at.tzinfo is None:
        raise InvalidMessage("at", f"{at} has no time zone: use datetime.now(UTC) or .astimezone()")
    return at.timestamp()
