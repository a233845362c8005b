"""The same requests on every kind of store, and what a store without a ledger cannot do."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.ids import new_id
from ferryman.queue.open import open_backend
from ferryman.testing import wait_until
from ferryman.web import asgi
from ferryman.web.server import Server
from tests.servers.sqs import sqs_url
from tests.web.client import Client
from tests.web.conftest import TOKEN

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server as TestServer


def url_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    match kind:
        case "memory":
            return "memory://"
        case "sqlite":
            return f"sqlite:///{folder}/jobs.db"
        case "file":
            return f"file://{folder}/queues"
        case "postgresql":
            return str(request.getfixturevalue("postgres_url"))
        case _:
            request.getfixturevalue("aws_settings")
            server: TestServer = request.getfixturevalue("ministack")
            ledger = f"sqlite:///{folder}/ledger.db" if kind == "sqs" else None
            return sqs_url(server, new_id().replace("-", ""), ledger)


def served(backend: Backend) -> Server:
    return Server(asgi(backend, token=TOKEN, rate=10_000.0), "127.0.0.1", 0)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "file", "postgresql", "sqs"])
def test_a_store_is_read_and_changed_alike(
    kind: str, request: pytest.FixtureRequest, memory_folder: Path
) -> None:
    url = url_of(kind, request, memory_folder)
    with closing(open_backend(url)) as backend, served(backend) as server:
        admin = Client(server.port, {"Authorization": f"Bearer {TOKEN}"})
        jobs = [
            {"task": "send", "queue": "mail", "payload": {"n": n}, "id": f"j{n}"} for n in range(5)
        ]
        assert admin.post("/v1/jobs", {"jobs": jobs}).json["created"] == 5
        assert admin.post("/v1/jobs", {"jobs": jobs}).json["created"] == 0
        page = admin.get("/v1/jobs", where="payload.n:3").json
        assert [job["id"] for job in page["jobs"]] == ["j3"]
        assert admin.get("/v1/queues/mail").json["ready"] == 5
        assert admin.post("/v1/jobs/j0/cancel").json["state"] == "cancelled"
        assert admin.post("/v1/jobs/j0/retry").json["state"] == "pending"
        begun = admin.post("/v1/bulk", {"act": "pause", "where": "queue:mail"})
        location = begun.headers["location"]
        wait_until(lambda: admin.get(location).json["state"] == "completed", timeout=30)
        assert admin.get(location).json["done"] == 5
        key = admin.post("/v1/keys", {"name": "ci", "role": "viewer"}).json
        viewer = Client(server.port, {"Authorization": f"Bearer {key['secret']}"})
        assert viewer.get("/v1/overview").json["states"]["paused"] == 5
        acts = [row["act"] for row in admin.get("/v1/audit").json["rows"]]
        assert acts == ["keys.create", "bulk.pause", "jobs.retry", "jobs.cancel", "jobs.push"]
        key = admin.post("/v1/keys", {"name": "shop", "role": "editor", "pushes": "2/h"}).json
        shop = Client(server.port, {"Authorization": f"Bearer {key['secret']}"})
        assert shop.post("/v1/jobs", {"jobs": jobs[:2]}).json["created"] == 0
        new = [shop.post("/v1/jobs", {"task": "send", "queue": "mail"}) for _ in range(3)]
        assert [answer.status for answer in new] == [201, 201, 429]
        assert new[2].code == "key_pushes"
        used = {one["name"]: one["last_used_at"] for one in admin.get("/v1/keys").json["keys"]}
        assert used.keys() == {"ci", "shop"}
        assert all(used.values())


def test_what_sqs_alone_cannot_do_is_refused_by_name(
    request: pytest.FixtureRequest, memory_folder: Path
) -> None:
    url = url_of("sqs alone", request, memory_folder)
    with closing(open_backend(url)) as backend, served(backend) as server:
        admin = Client(server.port, {"Authorization": f"Bearer {TOKEN}"})
        assert admin.get("/v1/me").json["capabilities"]["browse"] is False
        for path in ("/v1/jobs", "/v1/jobs/x", "/v1/bulk", "/v1/keys", "/v1/audit", "/v1/workers"):
            answer = admin.get(path)
            assert (answer.status, answer.code) == (501, "unsupported"), path
        key = {"name": "ci", "role": "editor", "pushes": "5/d"}
        assert admin.post("/v1/keys", key).code == "unsupported"
        bulk = admin.post("/v1/bulk", {"act": "retry", "where": "task:send"})
        assert bulk.code == "unsupported"
        login = Client(server.port).post("/v1/session", {"token": TOKEN})
        cookie = login.headers["set-cookie"].partition(";")[0]
        assert Client(server.port, {"Cookie": cookie}).get("/v1/me").json["role"] == "admin"
