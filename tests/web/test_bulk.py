"""Bulk acts: exact counts, also when whoever did them dies in the middle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.lifecycle import Act
from ferryman.service.audit import Audit
from ferryman.service.bulk import Before, BulkActs
from ferryman.service.bulk_runner import BulkRunner
from ferryman.service.roles import Role
from ferryman.testing import wait_until

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.web.client import Client
    from tests.web.conftest import Visitors


def ended(admin: Client, location: str) -> dict[str, Any]:
    wait_until(lambda: admin.get(location).json["state"] != "running", timeout=30)
    found: dict[str, Any] = admin.get(location).json
    return found


def test_an_act_on_all_that_match_counts_exactly_and_is_noted_once(
    ferry: Ferry, admin: Client
) -> None:
    ids = [ferry.push("send", n, queue="mail").id for n in range(1_234)]
    ferry.backend.cancel(ids[:200])
    wanted = {"act": "cancel", "where": "queue:mail"}
    assert admin.post("/v1/bulk/preview", wanted).json == {
        "matched": 1_234,
        "allowed": 1_034,
        "complete": True,
    }
    begun = admin.post("/v1/bulk", wanted)
    assert begun.status == 202
    bulk = ended(admin, begun.headers["location"])
    assert (bulk["state"], bulk["matched"], bulk["done"], bulk["refused"]) == (
        "completed",
        1_234,
        1_034,
        200,
    )
    (row,) = admin.get("/v1/audit").json["rows"]
    assert (row["act"], row["where"], row["count"]) == ("bulk.cancel", "queue:mail", 1_034)
    assert row["request_id"] == begun.headers["x-request-id"]
    assert [one["id"] for one in admin.get("/v1/bulk").json["bulk"]] == [bulk["id"]]


def test_an_empty_filter_and_a_deletion_by_an_operator_are_refused(
    admin: Client, ferry: Ferry
) -> None:
    for where in ("", "   "):
        for path in ("/v1/bulk", "/v1/bulk/preview"):
            assert admin.post(path, {"act": "cancel", "where": where}).code == "invalid"
    assert admin.post("/v1/bulk", {"act": "cancel", "where": "stat:x"}).code == "invalid"
    assert admin.post("/v1/bulk", {"act": "explode", "where": "task:x"}).code == "invalid"
    assert admin.get("/v1/bulk/none").code == "not_found"


@pytest.mark.parametrize("act", list(Act))
def test_whoever_goes_on_after_a_crash_counts_each_job_once(ferry: Ferry, act: Act) -> None:
    """Half of the held jobs were acted on when the one before died without a record of it."""
    backend = ferry.backend
    ids = [ferry.push("send", n, queue="mail").id for n in range(10)]
    if act is Act.RESUME:
        backend.pause(ids)
    elif act is Act.RETRY:
        backend.cancel(ids)
    jobs = [backend.get(job_id) for job_id in ids]
    held = tuple(Before(job.id, str(job.state), job.generation) for job in jobs if job is not None)
    acts = BulkActs(backend)
    begun = acts.begin(act, "queue:mail", by="ada", request_id="r")
    acts.write(replace(begun, held=held, walked=True, owner="dead"))
    verbs = {
        Act.CANCEL: backend.cancel,
        Act.PAUSE: backend.pause,
        Act.RESUME: backend.resume,
        Act.RETRY: backend.retry,
        Act.DELETE: backend.delete,
    }
    verbs[act](ids[:5])
    runner = BulkRunner(backend, Audit(backend))
    runner.start()
    wait_until(lambda: acts.get(begun.id).state == "completed")
    runner.stop()
    after = acts.get(begun.id)
    assert (after.matched, after.done, after.refused) == (10, 10, 0)
    assert [row.count for row in Audit(backend).page().rows] == [10]


def test_one_that_is_asked_to_stop_keeps_its_exact_counts(ferry: Ferry) -> None:
    for number in range(20):
        ferry.push("send", number, queue="mail")
    acts = BulkActs(ferry.backend)
    begun = acts.begin(Act.CANCEL, "queue:mail", by="ada", request_id="r")
    acts.cancel(begun.id)
    runner = BulkRunner(ferry.backend, Audit(ferry.backend))
    runner.start()
    wait_until(lambda: acts.get(begun.id).state == "cancelled")
    runner.stop()
    assert acts.get(begun.id).matched == 0
    assert acts.cancel(begun.id).state == "cancelled"


def test_a_bulk_act_of_a_living_server_is_left_to_it(ferry: Ferry) -> None:
    ferry.push("send", 1, queue="mail")
    acts = BulkActs(ferry.backend)
    begun = acts.begin(Act.CANCEL, "queue:mail", by="ada", request_id="r")
    acts.write(replace(begun, owner="alive", owned_until=ferry.backend.clock.now() + 3_600))
    other = acts.begin(Act.PAUSE, "queue:none", by="ada", request_id="r")
    runner = BulkRunner(ferry.backend, Audit(ferry.backend))
    runner.start()
    wait_until(lambda: acts.get(other.id).state == "completed")
    runner.stop()
    assert acts.get(begun.id).state == "running"


def test_a_confined_operator_follows_what_it_began_and_nothing_of_others(
    ferry: Ferry, admin: Client, visitor: Visitors
) -> None:
    for queue in ("mail", "bank"):
        ferry.push("send", 1, queue=queue)
    mail, bank = visitor(Role.OPERATOR, "mail", "post"), visitor(Role.OPERATOR, "bank")
    begun = mail.post("/v1/bulk", {"act": "cancel", "where": "task:send"})
    location = begun.headers["location"]
    assert ended(mail, location)["matched"] == 1
    of_all = admin.post("/v1/bulk", {"act": "pause", "where": "queue:mail"}).headers["location"]
    assert [one["id"] for one in mail.get("/v1/bulk").json["bulk"]] == [begun.json["id"]]
    assert mail.post(f"{location}/cancel").status == 200
    assert mail.get(of_all).code == "not_found"
    assert bank.get("/v1/bulk").json["bulk"] == []
    for refused in (bank.get(location), bank.post(f"{location}/cancel")):
        assert refused.code == "not_found"
