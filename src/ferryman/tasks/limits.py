"""How a task's jobs are held back: what they need, how often and how many at once."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import InvalidMessage, TaskError
from ferryman.message import MAX_NAME, check_int, check_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job

DAY: Final = 86_400.0
MAX_COUNT: Final = 1_000_000
MAX_BATCH: Final = 1_000

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": DAY}
_QUOTA: Final = re.compile(r"(\d+)/(\d*)([smhd])")
_PLACE: Final = re.compile(r"(?:payload|meta)(?:\.[^.\s]+)+|payload|key|queue|task")

covering: ContextVar[tuple[str, ...]] = ContextVar("ferryman_covering", default=())
"""The breakers that the running job's task needs: its worker reports to them, nobody else."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `count` grants in any `seconds`; a whole day is one of the calendar."""

    count: int
    seconds: float

    @classmethod
    def parse(cls, text: str) -> Quota:
        """From text such as `15/m`, `100/10s` or `500/d`."""
        match = _QUOTA.fullmatch(text)
        if match is None:
            raise TaskError(
                f"rate {text!r}: write a number and a period (15/m, 100/10s, 500/d; s, m, h or d)"
            )
        count, many, unit = int(match[1]), int(match[2] or 1), match[3]
        if not 1 <= count <= MAX_COUNT or many < 1:
            raise TaskError(f"rate {text!r}: both numbers are 1 or more, at most {MAX_COUNT:,}")
        if unit == "d" and many != 1:
            raise TaskError(f"rate {text!r}: days are those of the calendar, one at a time: n/d")
        return cls(count, many * _UNITS[unit])

    @property
    def daily(self) -> bool:
        return self.seconds == DAY

    def __str__(self) -> str:
        unit = next(unit for unit in "dhms" if self.seconds % _UNITS[unit] == 0)
        many = int(self.seconds / _UNITS[unit])
        return f"{self.count}/{many if many > 1 else ''}{unit}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds a task's jobs, or a queue's, back.

    `needs` are names of breakers; `rate` is quotas of its own, or the name of a declared rate;
    `concurrency` is how many leases may live at once, over all workers: for each value at the place
    `per` where that is given. `batch` is how many jobs one call of the handler takes.
    """

    needs: tuple[str, ...] = ()
    quotas: tuple[Quota, ...] = ()
    rate: str | None = None
    concurrency: int | None = None
    per: str | None = None
    batch: int | None = None

    @classmethod
    def of(
        cls,
        *,
        needs: Sequence[str] = (),
        rate: str | Sequence[str] = (),
        concurrency: int | None = None,
        per: str | None = None,
        batch: int | None = None,
    ) -> Limits:
        """What the options of a task or queue say, checked."""
        names = _names(needs)
        name, quotas = _rate(rate)
        try:
            if concurrency is not None:
                check_int("concurrency", concurrency, 1, MAX_COUNT)
            if batch is not None:
                check_int("batch", batch, 1, MAX_BATCH)
        except InvalidMessage as error:
            raise TaskError(str(error)) from None
        if per is not None and concurrency is None:
            raise TaskError(f"per={per!r} says for whom concurrency= counts: give that too")
        if per is not None and not _PLACE.fullmatch(per):
            raise TaskError(
                f"per={per!r} is no place in a job: use payload.user.id, meta.user_id, payload, "
                "key, queue or task"
            )
        return cls(names, quotas, name, concurrency, per, batch)

    @property
    def holding(self) -> bool:
        """Whether a worker has to look before it claims."""
        return bool(self.needs or self.quotas or self.rate or self.concurrency)

    def value_of(self, job: Job) -> str | None:
        """What `per` finds in a job, as text; None where there is nothing."""
        head, *rest = (self.per or "").split(".")
        found: Any = getattr(job, head)
        for part in rest:
            found = found.get(part) if hasattr(found, "get") else None
        return None if found is None else str(found)


NO_LIMITS: Final = Limits()


def _names(needs: Sequence[str]) -> tuple[str, ...]:
    if isinstance(needs, str):
        raise TaskError(f"needs={needs!r}: give a list of names, [{needs!r}]")
    try:
        for name in needs:
            check_name("needs", name, MAX_NAME)
    except InvalidMessage as error:
        raise TaskError(str(error)) from None
    return tuple(dict.fromkeys(needs))


def _rate(rate: str | Sequence[str]) -> tuple[str | None, tuple[Quota, ...]]:
    if not isinstance(rate, str):
        return None, tuple(Quota.parse(text) for text in rate)
    if "/" in rate:
        return None, (Quota.parse(rate),)
    try:
        check_name("rate", rate, MAX_NAME)
    except InvalidMessage as error:
        raise TaskError(str(error)) from None
    return rate, ()
