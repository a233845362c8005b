"""Handing over jobs: once, again, many at a time, and into full queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Ferry
from ferryman.service.roles import Role
from ferryman.web import asgi
from ferryman.web.idempotency import BODY_META, Seal
from ferryman.web.server import Server
from tests.web.client import Client, part
from tests.web.conftest import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.queue.contract import Backend
    from ferryman.web.problems import Problem
    from tests.web.conftest import Visitors


@pytest.fixture
def shop() -> Iterator[Client]:
    """A server of an app: it knows a task and how much its queue may hold."""
    with Ferry("memory://") as ferry:

        @ferry.task(queue="mail", priority="high")
        def send(to: str) -> str:
            return to

        ferry.limit("mail", capacity=2)
        with Server(asgi(ferry, token=TOKEN, rate=10_000.0), "127.0.0.1", 0) as server:
            yield Client(server.port, {"Authorization": f"Bearer {TOKEN}"})


def test_a_job_is_created_once_and_found_at_its_location(admin: Client) -> None:
    body = {"task": "send", "payload": {"to": "ada"}, "id": "a/1", "meta": {"source": "web"}}
    made = admin.post("/v1/jobs", body)
    assert (made.status, made.json) == (201, {"id": "a/1", "status": "created"})
    assert made.headers["location"] == f"/v1/jobs/{part('a/1')}"
    assert admin.get(made.headers["location"]).json["meta"] == {"source": "web"}
    again = admin.post("/v1/jobs", body)
    assert (again.status, again.json["status"]) == (200, "existing")
    other = admin.post("/v1/jobs", {**body, "payload": {"to": "bob"}})
    assert (other.status, other.code) == (409, "conflict")


def test_an_idempotency_key_makes_any_push_repeatable(admin: Client) -> None:
    body = {"jobs": [{"task": "send", "payload": n} for n in range(3)]}
    first = admin.post("/v1/jobs", body, Idempotency_Key="order-7")
    again = admin.post("/v1/jobs", body, Idempotency_Key="order-7")
    assert (first.status, first.json["created"]) == (201, 3)
    assert (again.status, again.json["created"]) == (200, 0)
    ids = [job["id"] for job in first.json["jobs"]]
    assert ids == [job["id"] for job in again.json["jobs"]]
    assert len(set(ids)) == 3
    other = admin.post("/v1/jobs", {"task": "send", "payload": 9}, Idempotency_Key="order-7")
    assert other.code == "conflict"
    assert len(admin.get("/v1/jobs").json["jobs"]) == 3


def test_an_idempotency_key_is_for_one_body_whatever_differs(admin: Client) -> None:
    body = {"task": "send", "payload": {"to": "ada"}, "priority": 1}
    assert admin.post("/v1/jobs", body, Idempotency_Key="order-7").status == 201
    others: list[dict[str, object]] = [
        {**body, "priority": 2},
        {**body, "max_attempts": 2},
        {**body, "delay": 60},
        {**body, "meta": {"a": "b"}},
        {"jobs": [body, body]},
    ]
    for other in others:
        refused = admin.post("/v1/jobs", other, Idempotency_Key="order-7")
        assert (refused.status, refused.code) == (409, "conflict"), other
    (job,) = admin.get("/v1/jobs").json["jobs"]
    assert job["meta"] == {BODY_META: "***"}
    reordered = {"priority": 1, "payload": {"to": "ada"}, "task": "send", "queue": None}
    assert admin.post("/v1/jobs", reordered, Idempotency_Key="order-7").status == 200
    assert len(admin.get("/v1/jobs").json["jobs"]) == 1


def test_of_two_bodies_at_once_the_later_is_refused(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"task": "send", "payload": 1, "priority": 1}
    assert admin.post("/v1/jobs", body, Idempotency_Key="order-7").status == 201
    looked: list[str] = []
    refusal = Seal.refusal

    def too_early(self: Seal, backend: Backend, *args: Sequence[Any]) -> Problem | None:
        looked.append("")
        return None if len(looked) == 1 else refusal(self, backend, *args)

    # Nothing from outside can put one request between the two looks of another.
    monkeypatch.setattr(Seal, "refusal", too_early)
    refused = admin.post("/v1/jobs", {**body, "priority": 2}, Idempotency_Key="order-7")
    assert (refused.status, refused.code) == (409, "conflict")


def test_the_same_idempotency_key_of_two_visitors_is_two(visitor: Visitors, admin: Client) -> None:
    clients = [visitor(Role.EDITOR), visitor(Role.EDITOR), admin]
    for number, client in enumerate(clients):
        body = {"task": "send", "payload": number}
        assert client.post("/v1/jobs", body, Idempotency_Key="order-7").status == 201
        assert client.post("/v1/jobs", body, Idempotency_Key="order-7").status == 200


def test_of_several_jobs_those_refused_are_named_and_the_others_accepted(admin: Client) -> None:
    admin.post("/v1/jobs", {"task": "send", "payload": 1, "id": "taken"})
    jobs = [{"task": "send", "payload": 2, "id": name} for name in ("free", "taken")]
    answer = admin.post("/v1/jobs", {"jobs": jobs})
    assert (answer.status, answer.code) == (409, "conflict")
    assert [job["status"] for job in answer.json["jobs"]] == ["created", "conflict"]
    assert admin.get("/v1/jobs/free").json["payload"] == 2
    rows = admin.get("/v1/audit").json["rows"]
    assert [(row["act"], row["count"]) for row in rows] == [("jobs.push", 1), ("jobs.push", 1)]


def test_a_full_queue_says_when_to_come_back(shop: Client) -> None:
    statuses = [shop.post("/v1/jobs", {"task": "send", "payload": "ada"}).status for _ in range(2)]
    full = shop.post("/v1/jobs", {"task": "send", "payload": "ada"})
    assert statuses == [201, 201]
    assert (full.status, full.code) == (429, "queue_full")
    assert int(full.headers["retry-after"]) >= 1
    assert shop.get("/v1/queues/mail").json["ready"] == 2


def test_the_tasks_of_an_app_lend_their_defaults_and_check_the_payload(shop: Client) -> None:
    made = shop.post("/v1/jobs", {"task": "send", "payload": "ada"})
    job = shop.get(made.headers["location"]).json
    assert (job["queue"], job["priority"]) == ("mail", 10)
    assert shop.post("/v1/jobs", {"task": "send", "payload": {"a": "x"}}).code == "invalid"
    unknown = shop.post("/v1/jobs", {"task": "sned"})
    assert (unknown.status, "did you mean 'send'?" in unknown.json["detail"]) == (422, True)


def test_at_most_a_thousand_jobs_come_at_once(admin: Client) -> None:
    jobs = [{"task": "send"}] * 1_001
    assert admin.post("/v1/jobs", {"jobs": jobs}).code == "invalid"
    assert admin.post("/v1/jobs", {"jobs": jobs[:1_000]}).json["created"] == 1_000
