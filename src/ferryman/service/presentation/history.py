"""What was ended over time, for charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.service.presentation.values import moment
from ferryman.worker.rollup import OUTCOMES, STEP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.service.history import Bucket
    from ferryman.worker.histogram import Histogram


def history(buckets: Sequence[Bucket]) -> dict[str, Any]:
    """What was ended in each `step` seconds; times are seconds, null where nothing ended.

    `oldest_ready` is the longest that a ready job was found to be due; null where nobody looked.
    """
    return {"step": STEP, "buckets": [_bucket(bucket) for bucket in buckets]}


def _bucket(bucket: Bucket) -> dict[str, Any]:
    ended = bucket.ended
    return {
        "at": moment(bucket.at),
        **{outcome: ended.counts[outcome] for outcome in OUTCOMES},
        "wait": _quantiles(ended.wait),
        "run": _quantiles(ended.run),
        "oldest_ready": None if ended.oldest is None else int(ended.oldest),
    }


def _quantiles(times: Histogram) -> dict[str, float | None]:
    found = {f"p{percent}": times.quantile(percent / 100) for percent in (50, 95, 99)}
    return {name: None if value is None else round(value, 4) for name, value in found.items()}
