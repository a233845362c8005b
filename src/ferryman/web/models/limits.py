"""What limits all workers: breakers, rates, permits."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from ferryman.flow.circuit import Phase


class Breaker(BaseModel):
    """`failures` in a row; open `until` then; so many `probes` are trying now."""

    name: str
    state: Phase
    failures: int
    probes: int
    until: datetime | None
    changed_at: datetime | None
    problem: str | None


class Breakers(BaseModel):
    """Those that have seen a failure."""

    breakers: list[Breaker]


class ResetBreaker(BaseModel):
    """A breaker that was closed, and how it stood."""

    breaker: str
    was: Breaker


class Rate(BaseModel):
    """One quota of a rate; `free_at` is when the rate gives its next grant."""

    name: str
    quota: str
    zone: str
    spent: int
    left: int
    free_at: datetime


class Rates(BaseModel):
    """The quotas that were used."""

    rates: list[Rate]


class Permit(BaseModel):
    """How many leases live under a concurrency limit, by worker."""

    name: str
    limit: int
    live: int
    holders: dict[str, int]


class Permits(BaseModel):
    """The limits that were used."""

    permits: list[Permit]
