"""Who may use which route: the one table for the server, the docs and the tests.

A route that is not in it cannot be added to the server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ferryman.service.roles import Role

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may use a route. `role` None is everybody, without any credentials.

    `confined`: also keys that are confined to some queues. `act` names the change that it makes in
    the audit log; empty for what changes nothing.
    """

    role: Role | None
    confined: bool = False
    act: str = ""


EVERYBODY: Final = Rule(None)
_VIEW: Final = Rule(Role.VIEWER)
_VIEW_QUEUES: Final = Rule(Role.VIEWER, confined=True)


def _acts(role: Role, *names: str, confined: bool = False) -> dict[str, Rule]:
    """`POST <path>` for each act on a noun, as `noun.act` to the path of one."""
    found = {}
    for name in names:
        noun, _, act = name.partition(".")
        found[f"POST {_ONE[noun]}/{act}"] = Rule(role, confined, name)
    return found


_ONE: Final = {
    "jobs": "/v1/jobs/{job_id}",
    "queues": "/v1/queues/{queue}",
    "runs": "/v1/runs/{run_id}",
    "schedules": "/v1/schedules/{name}",
    "breakers": "/v1/breakers/{name}",
    "bulk": "/v1/bulk/{bulk_id}",
}

RULES: Final[Mapping[str, Rule]] = {
    "GET /": EVERYBODY,
    "GET /static/{version}/{path:path}": EVERYBODY,
    "GET /livez": EVERYBODY,
    "HEAD /livez": EVERYBODY,
    "GET /readyz": EVERYBODY,
    "HEAD /readyz": EVERYBODY,
    "GET /healthz": EVERYBODY,
    "HEAD /healthz": EVERYBODY,
    "GET /metrics": _VIEW,
    "GET /openapi.json": _VIEW_QUEUES,
    "GET /v1/me": _VIEW_QUEUES,
    "POST /v1/session": Rule(None, confined=True, act="session.create"),
    "DELETE /v1/session": Rule(Role.VIEWER, confined=True, act="session.delete"),
    "GET /v1/overview": _VIEW_QUEUES,
    "GET /v1/events": _VIEW_QUEUES,
    "GET /v1/scale": _VIEW_QUEUES,
    "GET /v1/history": _VIEW_QUEUES,
    "GET /v1/queues": _VIEW_QUEUES,
    "GET /v1/queues/{queue}": _VIEW_QUEUES,
    **_acts(Role.OPERATOR, "queues.pause", "queues.resume", confined=True),
    **_acts(Role.ADMIN, "queues.purge", confined=True),
    "GET /v1/jobs": _VIEW_QUEUES,
    "GET /v1/jobs/counts": _VIEW_QUEUES,
    "POST /v1/jobs": Rule(Role.EDITOR, confined=True, act="jobs.push"),
    "GET /v1/jobs/{job_id}": _VIEW_QUEUES,
    "GET /v1/jobs/{job_id}/result": _VIEW_QUEUES,
    "GET /v1/jobs/{job_id}/logs": _VIEW_QUEUES,
    "GET /v1/jobs/{job_id}/progress": _VIEW_QUEUES,
    **_acts(Role.OPERATOR, "jobs.cancel", "jobs.pause", "jobs.resume", "jobs.retry", confined=True),
    "DELETE /v1/jobs/{job_id}": Rule(Role.ADMIN, confined=True, act="jobs.delete"),
    "GET /v1/failures": _VIEW_QUEUES,
    "GET /v1/bulk": _VIEW_QUEUES,
    "GET /v1/bulk/{bulk_id}": _VIEW_QUEUES,
    "POST /v1/bulk": Rule(Role.OPERATOR, confined=True, act="bulk"),
    "POST /v1/bulk/preview": Rule(Role.OPERATOR, confined=True),
    **_acts(Role.OPERATOR, "bulk.cancel", confined=True),
    "GET /v1/pipelines": _VIEW,
    "GET /v1/pipelines/{name}": _VIEW,
    "GET /v1/runs": _VIEW,
    "GET /v1/runs/{run_id}": _VIEW,
    "GET /v1/runs/{run_id}/jobs": _VIEW,
    **_acts(Role.OPERATOR, "runs.cancel", "runs.pause", "runs.resume", "runs.retry"),
    "GET /v1/schedules": _VIEW,
    **_acts(Role.OPERATOR, "schedules.pause", "schedules.resume"),
    **_acts(Role.EDITOR, "schedules.run"),
    "GET /v1/workers": _VIEW_QUEUES,
    "GET /v1/breakers": _VIEW,
    **_acts(Role.OPERATOR, "breakers.reset"),
    "GET /v1/rates": _VIEW,
    "GET /v1/permits": _VIEW,
    "GET /v1/health": _VIEW,
    "GET /v1/audit": Rule(Role.ADMIN),
    "GET /v1/keys": Rule(Role.ADMIN),
    "POST /v1/keys": Rule(Role.ADMIN, act="keys.create"),
    "DELETE /v1/keys/{key_id}": Rule(Role.ADMIN, act="keys.revoke"),
}
