"""The index of meta values, kept in step with the column `meta` of each job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferryman.backends.sqlite.transaction import Transaction


def add_meta(tx: Transaction, jobs: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Make jobs, given as id and meta, findable by their values."""
    rows = [(name, value, job_id) for job_id, meta in jobs for name, value in meta.items()]
    if rows:
        tx.run_many("add_meta", rows)


def drop_meta(tx: Transaction, jobs: Iterable[tuple[int, str | None]]) -> None:
    """Forget the values of jobs, given as seq and their column `meta`."""
    rows = [
        (name, value, seq)
        for seq, meta in jobs
        if meta is not None
        for name, value in json.loads(meta).items()
    ]
    if rows:
        tx.run_many("drop_meta", rows)
