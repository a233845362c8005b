"""Every route and every role, from the one table; and keys that are confined to queues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from fastapi import APIRouter
from scripts import rules

from ferryman.service.roles import Role
from ferryman.web.access.rules import RULES
from ferryman.web.app import ROUTERS
from ferryman.web.guard import Guarded

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.web.client import Answer, Client
    from tests.web.conftest import Visitors

REFUSED = (401, 403)


def ask(client: Client, route: str) -> Answer:
    method, _, path = route.partition(" ")
    path = re.sub(r"\{\w+\}", "nothing", path)
    body: dict[str, str] | None = None if method in ("GET", "DELETE") else {}
    return client.send(method, path, body=body, read=route != "GET /v1/events")


def test_the_table_has_exactly_the_routes_of_the_server() -> None:
    served = [
        f"{method} {route.path}"
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, Guarded)
        for method in route.methods or ()
    ]
    assert sorted(served) == sorted(RULES)


def test_a_route_without_a_rule_cannot_be_made() -> None:
    router = APIRouter(route_class=Guarded)
    with pytest.raises(TypeError, match=re.escape("web/access/rules.py")):
        router.get("/v1/secrets")(lambda: None)


def test_nobody_uses_a_route_that_is_not_open_to_everybody(stranger: Client) -> None:
    for route, rule in RULES.items():
        assert (ask(stranger, route).status == 401) is (rule.role is not None), route


@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_use_the_routes_that_the_table_gives_it(visitor: Visitors, role: Role) -> None:
    client = visitor(role)
    for route, rule in RULES.items():
        allowed = rule.role is None or role.allows(rule.role)
        answer = ask(client, route)
        if allowed:
            assert answer.status not in REFUSED or route == "POST /v1/session", route
            assert answer.status < 500, route
        else:
            assert (answer.status, answer.code) == (403, "forbidden"), route


def test_a_confined_key_may_use_only_what_is_about_its_queues(visitor: Visitors) -> None:
    client = visitor(Role.ADMIN, "mail")
    for route, rule in RULES.items():
        if rule.role is not None and not rule.confined:
            assert ask(client, route).code == "out_of_reach", route


def test_a_confined_key_sees_and_changes_nothing_of_other_queues(
    ferry: Ferry, visitor: Visitors
) -> None:
    own = ferry.push("send", 1, queue="mail").id
    other = ferry.push("send", 2, queue="bank").id
    client = visitor(Role.ADMIN, "mail")
    assert [job["id"] for job in client.get("/v1/jobs").json["jobs"]] == [own]
    assert client.get("/v1/jobs", where="queue:bank").json["jobs"] == []
    assert client.get("/v1/jobs", where="payload.x:1").json["scanned"] == 1
    assert client.get("/v1/jobs/counts").json["states"]["pending"] == 1
    assert client.get("/v1/jobs/counts", where="queue:bank").json["states"]["pending"] == 0
    assert [q["queue"] for q in client.get("/v1/overview").json["queues"]] == ["mail"]
    assert client.get("/v1/overview").json["states"]["pending"] == 1
    for path in ("", "/result", "/logs", "/progress"):
        assert client.get(f"/v1/jobs/{other}{path}").code == "not_found"
    for verb in ("cancel", "pause", "retry"):
        assert client.post(f"/v1/jobs/{other}/{verb}").code == "not_found"
    assert client.delete(f"/v1/jobs/{other}").code == "not_found"
    assert client.get("/v1/queues/bank").code == "not_found"
    assert client.get("/v1/scale", queue="bank").json["ready"] == 0
    assert client.post("/v1/queues/bank/pause").code == "out_of_reach"
    assert client.post("/v1/queues/bank/purge").code == "not_found"
    assert client.post("/v1/jobs", {"task": "send", "queue": "bank"}).code == "out_of_reach"
    assert client.post("/v1/jobs", {"task": "send", "queue": "mail"}).status == 201
    previewed = client.post("/v1/bulk/preview", {"act": "cancel", "where": "task:send"})
    assert previewed.json == {"matched": 2, "allowed": 2, "complete": True}
    assert ferry.backend.get(other) is not None
    assert not ferry.backend.snapshot().queues["bank"].paused


def test_the_docs_show_the_table() -> None:
    assert rules.START + rules.table() + rules.END in rules.PAGE.read_text(), (
        "run python scripts/rules.py"
    )
