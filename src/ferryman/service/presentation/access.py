"""API keys, audit rows, bulk acts: what the API keeps about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.service.presentation.values import moment
from ferryman.service.redaction import redacted_filter

if TYPE_CHECKING:
    from ferryman.service.api_keys import ApiKey
    from ferryman.service.audit import AuditPage
    from ferryman.service.bulk import BulkAct


def api_key(key: ApiKey, pushes_left: int | None = None) -> dict[str, Any]:
    """A key without its secret; `queues` is null for all of them, `rate` and `pushes` for any."""
    return {
        "id": key.id,
        "name": key.name,
        "role": str(key.role),
        "queues": None if key.queues is None else list(key.queues),
        "created_at": moment(key.created_at),
        "expires_at": moment(key.expires_at),
        "last_used_at": moment(key.used_at),
        "rate": None if key.rate is None else str(key.rate),
        "pushes": None if key.pushes is None else str(key.pushes),
        "pushes_left": pushes_left,
    }


def audit(page: AuditPage) -> dict[str, Any]:
    """Changes, newest first; `count` is null where a change is not about jobs."""
    return {
        "rows": [
            {
                "at": moment(row.at),
                "who": row.who,
                "act": row.act,
                "target": row.target,
                "where": row.where,
                "count": row.count,
                "request_id": row.request_id or row.id,
            }
            for row in page.rows
        ],
        "next": page.next,
    }


def bulk_act(bulk: BulkAct) -> dict[str, Any]:
    """`matched` = `done` + `refused`, and grows while the state is running."""
    return {
        "id": bulk.id,
        "act": str(bulk.act),
        "where": redacted_filter(bulk.where),
        "by": bulk.by,
        "state": bulk.state,
        "cancelling": bulk.cancelling,
        "matched": bulk.matched,
        "done": bulk.done,
        "refused": bulk.refused,
        "started_at": moment(bulk.started_at),
        "finished_at": moment(bulk.finished_at),
    }
