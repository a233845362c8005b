"""What is measured on PostgreSQL beside the usual: claims beside a transaction held open."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import psycopg

from bench import gates, measure
from bench.contender import payload
from bench.postgres_server import postgres_url, schema_of
from bench.result import Pair
from bench.stand import stand_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.ours import Ours
    from bench.workloads import Rivals, Sizes

EVERY: Final = 0.1
AT_ONCE: Final = 50
"""Five hundred jobs a second."""
PHASES: Final = (90.0, 600.0, 60.0, 90.0)
"""Seconds before it, with it, of recovery, and after that: the server tidies up once a minute."""
SHARE: Final = 0.99


def held_transaction(rivals: Rivals, sizes: Sizes) -> Iterator[Sequence[Pair]]:
    """Claims while somebody keeps a transaction open, so that nothing dead can be removed."""
    before, during, recovery, after = (seconds * sizes.held for seconds in PHASES)
    while True:
        with stand_for(rivals.ours) as stand, psycopg.connect(postgres_url()) as holder:
            ours = stand.contender
            start = _claims(ours, before)
            holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            holder.execute(f"SELECT count(*) FROM {schema_of(ours.folder)}.jobs")  # noqa: S608
            held = _claims(ours, during)
            holder.rollback()
            _claims(ours, recovery)
            end = _claims(ours, after)
        first = measure.percentile(start, SHARE)
        yield [
            Pair(gates.HELD, measure.percentile(held, SHARE), first),
            Pair(gates.RECOVERED, measure.percentile(end, SHARE), first),
        ]


def _claims(ours: Ours, seconds: float) -> list[float]:
    """Milliseconds of each claim, while jobs come and go at their pace."""
    took = []
    began = due = time.monotonic()
    while due < began + seconds:
        time.sleep(max(0.0, due - time.monotonic()))
        ours.push_many([payload(number) for number in range(AT_ONCE)])
        claimed, claiming = ours.finish(AT_ONCE)
        if claimed != AT_ONCE:
            raise RuntimeError(f"a claim of {AT_ONCE} got {claimed} jobs")
        took.append(claiming * 1_000)
        due += EVERY
    return took
