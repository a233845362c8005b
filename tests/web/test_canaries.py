"""Secrets that jobs hold are in no answer, no error, no log line and no span."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ferryman import Ferry, Job, Retry, trace
from ferryman.telemetry.lines import configure
from ferryman.telemetry.logs import EventLog
from ferryman.testing import drain, wait_until
from ferryman.web.access.rules import RULES
from tests.web.client import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferryman.telemetry.lines import LogFormat
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


ERRORS: dict[str, object] = {
    "repr": {"password": CANARY},
    "header": f"401 for Authorization: Token {CANARY}",
    "dsn": f"cannot reach postgresql://bob:p@{CANARY}@db/x",
    "long": "x" * 495 + f" password={CANARY}",
}


@pytest.fixture
def own_logger() -> Iterator[None]:
    """The process's loggers, put back as they were."""
    logger = logging.getLogger("ferryman")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.level, logger.propagate = before


@pytest.mark.usefixtures("own_logger")
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_secret_in_an_error_is_in_no_log_line_and_no_span_of_the_worker(
    log_format: LogFormat,
) -> None:
    lines, spans = io.StringIO(), InMemorySpanExporter()
    configure("debug", log_format, lines)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    with Ferry("memory://") as ferry:
        stop = EventLog.follow(ferry.events, ferry.backend.clock)
        trace(ferry, provider)

        @ferry.task(queue="mail", retry=Retry(1))
        def send(which: str) -> None:
            logging.getLogger("ferryman.app").warning("%s: %r", which, ERRORS[which])
            raise ValueError(ERRORS[which])

        for which in ERRORS:
            send.push(which)
        worker = ferry.worker({"mail": 1})
        worker.start()
        wait_until(lambda: lines.getvalue().count("job failed") == len(ERRORS))
        worker.join()
        stop()
    told = [span.to_json() for span in spans.get_finished_spans()]
    assert "exception.stacktrace" in "".join(told)
    assert [text for text in (*told, *lines.getvalue().splitlines()) if CANARY in text] == []


def test_no_filter_tells_what_is_hidden(ferry: Ferry, admin: Client, job_id: str) -> None:
    """Guesses, right and wrong ones, that must be answered in the same way."""
    right, wrong = CANARY[:9], "canary-xx"
    for guess in (
        """error:"password': '{}\"""",
        """-error:"password': '{}\"""",
        'error:"bob:{}"',
        '"token={}"',
        '-"token={}"',
        'payload.dsn:"postgresql://bob:{}@db/x"',
        'payload.headers.0:"Authorization: Bearer {}"',
    ):
        seen = []
        for text in (right, wrong, CANARY):
            where = guess.format(text)
            jobs = admin.get("/v1/jobs", where=where).json["jobs"]
            counts = admin.get("/v1/jobs/counts", where=where).json
            preview = admin.post("/v1/bulk/preview", {"act": "retry", "where": where}).json
            seen.append(([job["id"] for job in jobs], counts, preview))
        assert seen[0] == seen[1] == seen[2], guess
    for where in (f"payload.user.password:{CANARY}", f"meta.session_token:{CANARY}"):
        for refused in (
            admin.get("/v1/jobs", where=where),
            admin.get("/v1/jobs/counts", where=f"-{where}"),
            admin.post("/v1/bulk", {"act": "retry", "where": where}),
            admin.post("/v1/bulk/preview", {"act": "retry", "where": where}),
        ):
            assert (refused.code, "hidden" in refused.json["detail"]) == ("invalid", True)
    for where in ('error:"cannot log in"', '-error:"no such text"', "meta.plain:seen"):
        assert [job["id"] for job in admin.get("/v1/jobs", where=where).json["jobs"]] == [job_id]
