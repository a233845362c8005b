"""Whole queues and what is old: pause, resume, purge what waits, prune what has finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.job import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.job import State

_KINDS: Final = ("waiting_ready", "waiting_scheduled", "waiting_paused")


def pause_queue(tx: Transaction, queue: str) -> None:
    """Let no claim follow: those under way are waited for."""
    tx.run("lock_queue", {"queue": queue})
    tx.run("pause_queue", {"queue": queue})


def resume_queue(tx: Transaction, queue: str) -> None:
    """Allow claims again: a poll under way, which has its moment already, still finds it paused."""
    tx.run("lock_queue", {"queue": queue})
    tx.run("resume_queue", {"queue": queue})
    tx.awakens.add(queue)


def purge(tx: Transaction, queue: str, newest: int, limit: int) -> int:
    """Forget at most `limit` of the queue's waiting jobs that are no newer than `newest`."""
    values = {"queue": queue, "newest": newest, "limit": limit}
    for kind in _KINDS:
        if seqs := [seq for (seq,) in tx.rows(kind, values)]:
            return forget(tx, seqs)
    return 0


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
    chosen = sorted(map(str, TERMINAL & frozenset(states) if states else TERMINAL))
    spared = list(spare)
    # What others delete meanwhile would be counted here, and passed by in favour of what to keep.
    tx.run("share_prune" if keep is None else "lock_prune")
    if keep is not None:
        [(finished,)] = tx.rows("finished", {"states": chosen})
        limit = min(limit, finished - _spared(tx, chosen, spared) - keep)
    if limit <= 0:
        return 0
    before = tx.now - older_than
    values = {"states": chosen, "before": before, "limit": limit, "spared": spared}
    return forget(tx, [seq for (seq,) in tx.rows("finished_before", values)])


def forget(tx: Transaction, seqs: Sequence[int]) -> int:
    """Delete jobs with everything that belongs to them."""
    if not seqs:
        return 0
    values = {"seqs": list(seqs)}
    tx.run("forget_errors", values)
    tx.run("forget_logs", values)
    return tx.run("forget", values).rowcount + tx.run("forget_finished", values).rowcount


def _spared(tx: Transaction, states: Sequence[str], spared: Sequence[str]) -> int:
    if not spared:
        return 0
    [(count,)] = tx.rows("count_spared", {"states": states, "spared": spared})
    return int(count)
