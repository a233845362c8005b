"""The tables of programs that kept their queues in tables of their own, as views."""

from __future__ import annotations

from collections.abc import Mapping

Columns = Mapping[str, str | Mapping[str, str]]

STATES = {"paused": "pending", "cancelled": "failed"}

CRAWL_JOBS: Columns = {
    "id": "id",
    "payload": "payload",
    "priority": "priority",
    "status": "state",
    "worker_id": "worker",
    "progress_percentage": "progress",
    "created_at": "created_at",
    "started_at": "started_at",
    "completed_at": "finished_at",
    "last_heartbeat": "heartbeat_at",
    "retry_count": "retries",
    "max_retries": "max_retries",
    "error_message": "error",
    "source_id": "meta.source_id",
    "user_id": "meta.user_id",
}

PDF_DISCOVERY_QUEUE: Columns = {
    "id": "seq",
    "url": "payload.url",
    "date": "payload.date",
    "number": "payload.number",
    "year": "payload.year:integer",
    "status": STATES,
    "priority": "priority",
    "attempts": "attempts",
    "last_attempt": "started_at",
    "error_message": "error",
    "metadata": "payload.metadata:json",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
