"""Forgetting jobs: purge what waits, prune what has finished."""

from __future__ import annotations

import json
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Final

from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.meta import drop_meta
from ferryman.job import TERMINAL, State

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.backends.sqlite.transaction import Transaction

_KINDS: Final = ("waiting_ready", "waiting_scheduled", "waiting_paused")


def purge(tx: Transaction, queue: str, newest: int, limit: int) -> int:
    """Forget at most `limit` of the queue's waiting jobs that are no newer than `newest`."""
    values = {"queue": queue, "newest": newest, "limit": limit}
    seqs = [seq for kind in _KINDS for (seq,) in tx.run(kind, values).fetchall()][:limit]
    return forget(tx, seqs)


def prune(
    tx: Transaction,
    *,
    older_than: float,
    states: Collection[State],
    keep: int | None,
    limit: int,
    spare: Collection[str],
) -> int:
    """Forget finished jobs, oldest end first."""
    tx.run("drop_empty_counts")
    chosen = TERMINAL & frozenset(states) if states else TERMINAL
    spared = json.dumps(list(spare)) if spare else None
    if keep is not None:
        limit = min(limit, _finished(tx, chosen) - _spared(tx, chosen, spared) - keep)
    if limit <= 0:
        return 0
    values = {"before": tx.now - older_than, "limit": limit, "spared": spared}
    by_state = [tx.run("finished_before", {**values, "state": s}).fetchall() for s in chosen]
    return forget(tx, [seq for _, seq in islice(merge(*by_state), limit)])


def forget(tx: Transaction, seqs: Sequence[int]) -> int:
    """Delete jobs with everything that belongs to them."""
    if not seqs:
        return 0
    values = {"seqs": json.dumps(seqs)}
    tx.run("forget_errors", values)
    tx.run("forget_logs", values)
    forgotten = tx.run("forget", values).fetchall()
    drop_meta(tx, ((seq, meta) for seq, _, _, _, meta in forgotten))
    for _, queue, state, scheduled, _ in forgotten:
        tx.tally.add(queue, state, -1)
        tx.tally.add(queue, SCHEDULED, -scheduled)
    return len(forgotten)


def _finished(tx: Transaction, states: Collection[State]) -> int:
    return sum(n for _, state, n in tx.run("counts").fetchall() if state in states)


def _spared(tx: Transaction, states: Collection[State], spared: str | None) -> int:
    if spared is None:
        return 0
    values = {"spared": spared, "states": json.dumps(list(states))}
    [(count,)] = tx.run("count_spared", values).fetchall()
    return int(count)
