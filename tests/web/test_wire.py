"""What the server really sends is what its description says, member by member."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from jsonschema import ValidationError

from ferryman import Fail, Ferry, Job, Retry, collect
from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.permits import PERMIT_CELLS
from ferryman.flow.timetable import Timetable
from ferryman.queue.heartbeat import Beat
from ferryman.testing import drain, wait_until
from ferryman.web import asgi
from ferryman.web.access.rules import RULES
from ferryman.web.server import Server
from ferryman.worker.upkeep import WORKER_CELLS
from tests.web.client import Client, Stream
from tests.web.conftest import TOKEN
from tests.web.wire import SCHEMAS, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNSEEN = {
    "MadeKey.last_used_at",  # nobody had it before
    "Change.outage",  # while a store is away; its text is looked at by the tests of the feed
    "StoreCapabilities.max_delay",  # SQS alone has one
}


@pytest.fixture
def ferry() -> Iterator[Ferry]:
    """A store with one of everything."""
    with Ferry("memory://") as ferry:

        @ferry.task(queue="mail", retry=Retry(2, base=0.0))
        def send(to: str, job: Job) -> str:
            job.log(f"to {to}")
            job.progress(50, "half")
            job.checkpoint({"page": 7})
            if to == "nobody":
                raise Fail("no such person")
            if to == "busy" and job.attempts == 1:
                raise ValueError("try again")
            return f"sent to {to}"

        @ferry.task(queue="later")
        def report(lines: list[str]) -> None: ...

        @ferry.task()
        def quick() -> None: ...

        ferry.limit("small", capacity=1)
        ferry.rate("gemini", ["15/m", "500/d"])
        ferry.rate("gemini").take()
        ferry.schedule("nightly", report, ["none"], cron="0 3 * * *")
        ferry.schedule("often", report, [], every=60)
        for schedule in ferry.schedules.values():
            Timetable(ferry.backend).declare(schedule)
        ferry.pipeline("sums", send >> collect(report))
        send.using(tenant="t", key="k", correlation_id="c", expires=3_600, timeout=5).push("ada")
        send.push("busy")
        send.push("nobody")
        drain(ferry, ["mail"])
        backend = ferry.backend
        backend.write_cell(BREAKER_CELLS + "bank", BREAKER, expect=0)
        backend.write_cell(PERMIT_CELLS + "mail", '{"limit":2,"holders":{"w":[1,9e12]}}', expect=0)
        backend.write_cell(WORKER_CELLS + "other", '{"hears": true}', expect=0)
        yield ferry


BREAKER = json.dumps({"failures": 5, "until": 9e9, "changed_at": 1e9, "problem": "no answer"})


@pytest.fixture
def server(ferry: Ferry) -> Iterator[Server]:
    app = asgi(ferry, token=TOKEN, rate=10_000.0, environment="staging")
    with Server(app, "127.0.0.1", 0) as server:
        yield server


@pytest.fixture
def wire(admin: Client) -> Wire:
    return Wire(admin)


def test_every_answer_of_every_route_is_what_the_description_says(
    ferry: Ferry, wire: Wire, admin: Client, stranger: Client
) -> None:
    done = ferry.push("quick")
    worker = ferry.worker({"default": 1})
    worker.start()
    wait_until(lambda: any(row["pid"] for row in wire.get("/v1/workers")["workers"]))
    done.wait(30)
    _reads(wire)
    _jobs(ferry, wire)
    _runs(ferry, wire)
    _others(wire)
    _session(wire, stranger)
    _problems(wire)
    stream = Stream(admin)
    wire.check({"$ref": SCHEMAS + "Change"}, stream.next()[1])
    stream.close()
    worker.join()
    _reads(wire)
    routes = {route for route in RULES if " /v1/" in route}
    bodiless = {"DELETE /v1/session", "GET /v1/events"}
    assert routes - wire.asked == bodiless
    assert wire.members - wire.seen - TROUBLES == UNSEEN


TROUBLES = {f"Trouble.{member}" for member in ("queue", "path", "reason", "at")}


def _reads(wire: Wire) -> None:
    for path in ("overview", "queues", "me", "history", "failures", "health", "keys", "audit"):
        wire.get(f"/v1/{path}")
    for path in ("breakers", "rates", "permits", "schedules", "pipelines", "bulk"):
        wire.get(f"/v1/{path}")
    for path in ("/livez", "/readyz"):
        wire.get(path)
    wire.get("/healthz", {"verbose": ""})
    wire.get("/v1/queues/{queue}", queue="mail")
    wire.get("/v1/scale", {"queue": "mail"})
    wire.get("/v1/jobs/counts", {"where": "queue:mail"})


def _jobs(ferry: Ferry, wire: Wire) -> None:
    many = {"jobs": [{"task": "send", "payload": name} for name in ("bo", "cy")]}
    ids = [job["id"] for job in wire.post("/v1/jobs", many, status=201)["jobs"]]
    ferry.push("send", "dee", queue="mail", meta={"source": "web"})
    held = ferry.backend.poll("w", {"mail": 1}, lease=60)
    ferry.backend.heartbeat("w", [Beat(held[0].id, held[0].fence)], lease=60)
    ferry.backend.pause([held[0].id])
    for page in (wire.get("/v1/jobs"), wire.get("/v1/jobs", {"limit": 1, "where": "error:o"})):
        for job in page["jobs"]:
            wire.get("/v1/jobs/{job_id}", job_id=job["id"])
            for path in ("result", "logs", "progress"):
                wire.get(f"/v1/jobs/{{job_id}}/{path}", job_id=job["id"])
    [waiting] = [job_id for job_id in ids if job_id != held[0].id][:1]
    for act in ("pause", "resume", "cancel", "retry"):
        wire.post(f"/v1/jobs/{{job_id}}/{act}", job_id=waiting)
    wire.ask("DELETE", "/v1/jobs/{job_id}", {"job_id": waiting})
    for act in ("pause", "resume", "purge"):
        wire.post(f"/v1/queues/{{queue}}/{act}", queue="mail")


def _runs(ferry: Ferry, wire: Wire) -> None:
    run = ferry.pipelines["sums"].push("ada").id
    for act in ("pause", "resume"):
        wire.post(f"/v1/runs/{{run_id}}/{act}", run_id=run)
    wire.get("/v1/runs/{run_id}", run_id=run)
    drain(ferry, ["mail", "later"])
    wire.get("/v1/runs/{run_id}", run_id=run)
    wire.get("/v1/runs/{run_id}/jobs", {"limit": 1}, run_id=run)
    wire.post("/v1/runs/{run_id}/retry", {"stage": "send"}, run_id=run)
    wire.post("/v1/runs/{run_id}/cancel", run_id=run)
    ferry.pipelines["sums"].push("bob")
    wire.get("/v1/runs")
    wire.get("/v1/runs", {"limit": 1})
    wire.get("/v1/pipelines")
    wire.get("/v1/pipelines/{name}", name="sums")


def _others(wire: Wire) -> None:
    for act in ("pause", "resume", "run"):
        wire.post(f"/v1/schedules/{{name}}/{act}", name="nightly")
    wire.post("/v1/breakers/{name}/reset", name="bank")
    wanted = {"act": "cancel", "where": "queue:later"}
    wire.post("/v1/bulk/preview", wanted)
    bulk = wire.post("/v1/bulk", wanted, status=202)["id"]
    wait_until(lambda: wire.get("/v1/bulk/{bulk_id}", bulk_id=bulk)["state"] == "completed")
    wire.post("/v1/bulk/{bulk_id}/cancel", bulk_id=bulk)
    wire.get("/v1/bulk")
    limits = {"queues": ["mail"], "expires": 60, "rate": "10/s", "pushes": "1000/d"}
    key = wire.post("/v1/keys", {"name": "ci", "role": "viewer", **limits}, status=201)
    wire.get("/v1/keys")
    wire.ask("DELETE", "/v1/keys/{key_id}", {"key_id": key["id"]})
    wire.get("/v1/audit", {"limit": 1})


def _session(wire: Wire, stranger: Client) -> None:
    wire.ask("POST", "/v1/session", body={"token": TOKEN}, status=201)
    login = stranger.post("/v1/session", {"token": TOKEN})
    browser = stranger.using(Cookie=login.headers["set-cookie"].partition(";")[0])
    wire.ask("GET", "/v1/me", client=browser)
    key = wire.post("/v1/keys", {"name": "x", "role": "viewer", "queues": ["a"]}, status=201)
    confined = stranger.using(Authorization=f"Bearer {key['secret']}")
    wire.ask("GET", "/v1/me", client=confined)
    wire.get("/v1/keys")
    wire.ask("GET", "/v1/runs", client=confined, status=403)
    wire.ask("GET", "/v1/me", client=stranger, status=401)


def _problems(wire: Wire) -> None:
    assert wire.ask("GET", "/v1/jobs/{job_id}", {"job_id": "no"}, status=404)["code"]
    wire.ask("GET", "/v1/jobs", query={"limit": 0}, status=422)
    wire.ask("GET", "/v1/jobs", query={"where": "state:lost"}, status=422)
    small = {"task": "report", "payload": [], "queue": "small"}
    wire.post("/v1/jobs", small, status=201)
    wire.post("/v1/jobs", small, status=429)
    taken = [{"task": "send", "payload": name, "id": "taken"} for name in ("a", "b")]
    wire.post("/v1/jobs", {"jobs": taken}, status=409)


def test_what_was_set_aside_is_what_the_description_says(tmp_path: Path) -> None:
    with Ferry(f"file://{tmp_path}?durability=relaxed") as ferry:
        ferry.push("send", 1, queue="mail", id="good")
        (tmp_path / "mail" / "pending" / "bad").mkdir()
        torn = tmp_path / "mail" / "pending" / "bad" / "task.json"
        torn.write_text("{")
        os.utime(torn, (0, 0))
        ferry.backend.poll("w", {"mail": 9}, lease=60)
        with Server(asgi(ferry, token=TOKEN), "127.0.0.1", 0) as server:
            wire = Wire(Client(server.port, {"Authorization": f"Bearer {TOKEN}"}))
            assert wire.get("/v1/overview")["set_aside"]
            assert wire.seen >= TROUBLES


def test_the_comparison_finds_what_is_missing_too_much_or_of_another_kind(wire: Wire) -> None:
    queue = wire.get("/v1/queues")["queues"][0]
    schema = {"$ref": SCHEMAS + "Queue"}
    wire.check(schema, queue)
    less = {name: value for name, value in queue.items() if name != "ready"}
    for wrong in (less, {**queue, "new": 1}, {**queue, "ready": "1"}, {**queue, "ready": None}):
        with pytest.raises(ValidationError):
            wire.check(schema, wrong)
