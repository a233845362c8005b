"""Acts on jobs, queues, runs, schedules and breakers; each leaves one row in the audit log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ferryman.flow.breakers import BREAKER_CELLS
from ferryman.flow.timetable import Timetable
from ferryman.service.audit import ROWS, Audit
from ferryman.testing import drain

if TYPE_CHECKING:
    import pytest

    from ferryman import Ferry
    from tests.web.client import Client


def rows(admin: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = admin.get("/v1/audit", limit=1_000).json["rows"]
    return found


def test_every_act_on_a_job_is_done_and_noted_once(ferry: Ferry, admin: Client) -> None:
    job_id = ferry.push("send", 1, queue="mail").id
    for verb, state in (
        ("pause", "paused"),
        ("resume", "pending"),
        ("cancel", "cancelled"),
        ("retry", "pending"),
    ):
        assert admin.post(f"/v1/jobs/{job_id}/{verb}").json == {"id": job_id, "state": state}
    assert admin.delete(f"/v1/jobs/{job_id}").status == 200
    assert admin.get(f"/v1/jobs/{job_id}").code == "not_found"
    noted = [(row["act"], row["target"], row["count"], row["who"]) for row in rows(admin)]
    verbs = ("delete", "retry", "cancel", "resume", "pause")
    assert noted == [(f"jobs.{verb}", job_id, 1, "token") for verb in verbs]


def test_what_was_refused_changes_nothing_and_is_not_noted(ferry: Ferry, admin: Client) -> None:
    job_id = ferry.push("send", 1).id
    for verb in ("resume", "retry"):
        assert admin.post(f"/v1/jobs/{job_id}/{verb}").code == "not_allowed"
    assert admin.post("/v1/jobs/none/cancel").code == "not_found"
    assert rows(admin) == []


def test_queues_are_paused_resumed_and_purged(ferry: Ferry, admin: Client) -> None:
    ferry.push("send", 1, queue="mail")
    assert admin.post("/v1/queues/mail/pause").json == {"queue": "mail", "paused": True}
    shown = admin.get("/v1/queues/mail").json
    assert [(one["reason"], one["fix"]) for one in shown["why"]] == [
        ("paused", "ferryman queues resume mail")
    ]
    assert admin.post("/v1/queues/mail/resume").json["paused"] is False
    assert [one["reason"] for one in admin.get("/v1/queues/mail").json["why"]] == ["no_workers"]
    assert admin.get("/v1/queues/mail").json["tasks"] == ["send"]
    assert admin.get("/v1/scale", queue="mail").json["wanted"] == 1
    assert admin.post("/v1/queues/mail/purge").json == {"queue": "mail", "purged": 1}
    assert [row["act"] for row in rows(admin)] == ["queues.purge", "queues.resume", "queues.pause"]


def test_runs_are_shown_and_steered(ferry: Ferry, admin: Client) -> None:
    @ferry.task(queue="one")
    def first(number: int) -> int:
        return number + 1

    @ferry.task(queue="two")
    def second(number: int) -> int:
        return number * 2

    run = ferry.pipeline("sums", first >> second).push(1)
    assert admin.post(f"/v1/runs/{run.id}/pause").json["done"] == "paused"
    assert admin.get(f"/v1/runs/{run.id}").json["state"] == "paused"
    assert admin.post(f"/v1/runs/{run.id}/resume").json["done"] == "resumed"
    drain(ferry)
    whole = admin.get(f"/v1/runs/{run.id}").json
    assert (whole["state"], whole["edges"]) == ("completed", [{"from": "first", "to": "second"}])
    assert whole["started_at"] <= whole["finished_at"]
    assert admin.get("/v1/pipelines/sums").json["edges"] == whole["edges"]
    assert [one["run"] for one in admin.get("/v1/runs", pipeline="sums").json["runs"]] == [run.id]
    found = admin.get(f"/v1/runs/{run.id}/jobs", stage="second", state="completed").json["jobs"]
    assert [job["result"] for job in found] == [4]
    assert admin.post(f"/v1/runs/{run.id}/retry", {"stage": "second"}).json["jobs"] == 1
    assert admin.post(f"/v1/runs/{run.id}/retry", {"stage": "third"}).code == "invalid"
    assert admin.post(f"/v1/runs/{run.id}/cancel").json["done"] == "cancelled"
    assert [row["act"].partition(".")[2] for row in rows(admin)] == [
        "cancel",
        "retry",
        "resume",
        "pause",
    ]


def test_schedules_are_paused_resumed_and_run(ferry: Ferry, admin: Client) -> None:
    @ferry.task(queue="reports")
    def report() -> None: ...

    ferry.schedule("nightly", report, cron="0 3 * * *")
    for schedule in ferry.schedules.values():
        Timetable(ferry.backend).declare(schedule)
    (shown,) = admin.get("/v1/schedules").json["schedules"]
    assert (shown["schedule"], len(shown["upcoming"])) == ("nightly", 5)
    assert shown["upcoming"][0] == shown["next"]
    assert admin.post("/v1/schedules/nightly/pause").json["paused"] is True
    assert admin.get("/v1/schedules").json["schedules"][0]["upcoming"] == []
    assert admin.post("/v1/schedules/nightly/resume").json["paused"] is False
    assert admin.post("/v1/schedules/nightly/run").json["created"] is True
    assert admin.post("/v1/schedules/daily/run").code == "not_found"
    assert len(rows(admin)) == 3


def test_a_breaker_is_reset(ferry: Ferry, admin: Client) -> None:
    assert admin.post("/v1/breakers/bank/reset").code == "not_found"
    ferry.backend.write_cell(BREAKER_CELLS + "bank", '{"failures": 2}', expect=0)
    assert [one["name"] for one in admin.get("/v1/breakers").json["breakers"]] == ["bank"]
    assert admin.post("/v1/breakers/bank/reset").json["was"]["failures"] == 2
    assert admin.get("/v1/breakers").json["breakers"] == []
    assert [row["target"] for row in rows(admin)] == ["bank"]


def test_failures_are_grouped_by_what_went_wrong(ferry: Ferry, admin: Client) -> None:
    from ferryman import Fail

    @ferry.task(queue="mail")
    def send(number: int) -> None:
        if number == 9:
            raise Fail("no such person")
        raise Fail(f"host 10.0.0.{number} did not answer in {number} s")

    for number in (1, 2, 3, 9):
        send.push(number)
    drain(ferry)
    found = admin.get("/v1/failures", since=3_600).json
    assert [(group["count"], group["task"]) for group in found["groups"]] == [
        (3, "send"),
        (1, "send"),
    ]
    assert (found["scanned"], found["complete"]) == (4, True)
    for group in found["groups"]:
        matching = admin.get("/v1/jobs", where=group["where"]).json["jobs"]
        assert len(matching) == group["count"]
        assert group["sample"] in [job["id"] for job in matching]


def test_audit_rows_are_paged_over_many_cells_and_logged(
    ferry: Ferry, admin: Client, caplog: pytest.LogCaptureFixture
) -> None:
    audit = Audit(ferry.backend)
    total = ROWS * 2 + 7
    with caplog.at_level(logging.INFO, "ferryman.audit"):
        for number in range(total):
            audit.add(f"request-{number}", "ada", "jobs.push", target=str(number), count=1)
    audit.add(f"request-{total - 1}", "ada", "jobs.push", target="again", count=1)
    seen: list[str] = []
    after = None
    while True:
        page = admin.get("/v1/audit", limit=20, after=after).json
        seen += [row["target"] for row in page["rows"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [str(number) for number in reversed(range(total))]
    assert len(caplog.records) == total
    assert "who=ada act=jobs.push" in caplog.records[0].getMessage()
    assert admin.get("/v1/audit", after="x").code == "invalid"


def test_a_request_id_that_comes_again_hides_no_change(ferry: Ferry, admin: Client) -> None:
    ids = [ferry.push("send", n).id for n in range(3)]
    for job_id in ids:
        admin.post(f"/v1/jobs/{job_id}/cancel", X_Request_Id="mine")
    noted = [(row["target"], row["request_id"]) for row in rows(admin)]
    assert noted == [(job_id, "mine") for job_id in reversed(ids)]
