"""What an examination of a store finds; backends may offer probes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence


class Severity(StrEnum):
    """`problem`: jobs are late, lost or refused, or will be. `warning`: look at it some time."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `check` is its stable name; `fix` is empty when all is well."""

    check: str
    severity: Severity
    what: str
    fix: str = ""

    @classmethod
    def ok(cls, check: str, what: str) -> Finding:
        return cls(check, Severity.OK, what)

    @classmethod
    def warning(cls, check: str, what: str, fix: str) -> Finding:
        return cls(check, Severity.WARNING, what, fix)

    @classmethod
    def problem(cls, check: str, what: str, fix: str) -> Finding:
        return cls(check, Severity.PROBLEM, what, fix)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something in a queue that is no job and cannot be made one. `at` is when it was found."""

    queue: str
    path: str
    reason: str
    at: float


@runtime_checkable
class Quarantining(Protocol):
    """A backend that sets aside what it cannot use, instead of stumbling over it."""

    def troubles(self) -> Sequence[Trouble]: ...


@runtime_checkable
class Hearing(Protocol):
    """A backend that can be told of pushes by its server, and need not look for them."""

    def hears(self) -> bool | None:
        """Whether it is told now; None where that is turned off, or nobody has waited yet."""
        ...


@runtime_checkable
class Diagnosable(Protocol):
    """A backend that can look at what only it knows: its disk, its server, its settings.

    `diagnose` disturbs no other user of the store. `deep` allows what may take minutes.
    """

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]: ...
