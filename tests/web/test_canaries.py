"""Secrets that jobs hold are in no answer, no error and no log line."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Job, Retry
from ferryman.testing import drain
from ferryman.web.access.rules import RULES
from tests.web.client import Stream

if TYPE_CHECKING:
    from tests.web.client import Client

CANARY = "canary-7f3a"
DSN = f"postgresql://bob:{CANARY}@db/x"


@pytest.fixture
def job_id(ferry: Ferry) -> str:
    @ferry.task(queue="mail", retry=Retry(1))
    def send(payload: dict[str, object], job: Job) -> None:
        job.log(f"password={CANARY}")
        job.progress(10, f"Authorization: Bearer {CANARY}")
        job.checkpoint({"deep": [{"api_key": CANARY}]})
        raise ValueError(f"cannot log in: {{'password': '{CANARY}'}} at {DSN} token={CANARY}")

    payload: dict[str, object] = {
        "user": {"password": CANARY, "list": [{"X-Api-Key": CANARY}]},
        "dsn": DSN,
        "headers": [f"Authorization: Bearer {CANARY}"],
    }
    handle = send.using(meta={"session_token": CANARY, "plain": "seen"}).push(payload)
    drain(ferry)
    return handle.id


def test_a_secret_is_in_no_answer_and_no_log(
    ferry: Ferry, admin: Client, job_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answers = [
            admin.get(route.partition(" ")[2].replace("{job_id}", job_id)).text
            for route in RULES
            if route.startswith("GET ") and route != "GET /v1/events"
        ]
        where = f"payload.user.password:{CANARY}"
        answers += [
            admin.get("/v1/jobs", where=where).text,
            admin.get("/v1/jobs", where=f'payload.password:"{CANARY}').text,
            admin.post("/v1/bulk", {"act": "retry", "where": where}).text,
            admin.get("/v1/bulk").text,
            admin.post("/v1/jobs", {"task": "send", "payload": 1, "password": CANARY}).text,
            admin.post("/v1/session", {"token": f"fm_{CANARY}"}).text,
            admin.get("/v1/audit").text,
        ]
        stream = Stream(admin)
        answers.append(json.dumps(stream.next()[1]))
        stream.close()
    assert "seen" in "".join(answers)
    assert [text for text in answers if CANARY in text] == []
    assert [line.getMessage() for line in caplog.records if CANARY in line.getMessage()] == []


def test_an_error_that_nobody_foresaw_tells_nothing_but_where_to_look(
    ferry: Ferry, admin: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError(CANARY)

    # No store raises such an error by itself, and the answer to it must be safe all the same.
    monkeypatch.setattr("ferryman.service.insights.Insights.queues", explode)
    answer = admin.get("/v1/queues")
    assert (answer.status, answer.code) == (500, "internal")
    assert answer.headers["x-request-id"] in answer.json["hint"]
    assert CANARY not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text
