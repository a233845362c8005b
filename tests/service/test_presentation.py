from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Fail, Job, Retry, State
from ferryman.service import presentation
from ferryman.service.presentation.values import shown_json
from ferryman.service.redaction import redacted
from ferryman.testing import drain

if TYPE_CHECKING:
    from ferryman import Ferry
    from ferryman.service.insights import Insights


def test_a_moment_is_iso_8601_in_utc_with_a_z() -> None:
    assert presentation.moment(1_800_000_000.25) == "2027-01-15T08:00:00.250Z"
    assert presentation.moment(None) is None


def test_a_whole_job_is_json_with_its_payload_result_errors_and_logs(
    ferry: Ferry, insights: Insights
) -> None:
    @ferry.task(queue="mail", retry=Retry(2, base=0))
    def send(to: str, password: str, job: Job) -> dict[str, str]:
        job.log("to postgresql://ann:geheim@db/mail")
        job.checkpoint({"session": {"token": "geheim"}})
        if job.attempts == 1:
            raise ConnectionError("postgresql://ann:geheim@db/mail is down")
        return {"to": to, "api_key": password}

    handle = send.using(meta={"token": "geheim", "user": "7"}).push("ann", "geheim")
    drain(ferry)
    shown = presentation.job_whole(insights.job(handle.id))
    assert shown["state"] == "completed"
    assert shown["payload"] == {"to": "ann", "password": "***"}
    assert shown["result"] == {"to": "ann", "api_key": "***"}
    assert shown["checkpoint"] == {"session": {"token": "***"}}
    assert shown["meta"] == {"token": "***", "user": "7"}
    assert shown["errors"][0]["kind"] == "ConnectionError"
    assert "postgresql://ann:***@db/mail" in shown["errors"][0]["text"]
    assert shown["logs"][0]["text"] == "to postgresql://ann:***@db/mail"
    assert "geheim" not in json.dumps(shown)


def test_the_summary_has_the_same_keys_for_every_job(ferry: Ferry, insights: Insights) -> None:
    @ferry.task(queue="mail")
    def bad() -> None:
        raise Fail("no")

    handle = bad.push()
    before = presentation.job_summary(insights.job(handle.id))
    drain(ferry)
    after = presentation.job_summary(insights.job(handle.id))
    assert before.keys() == after.keys()
    assert (after["state"], after["error"]) == ("failed", "no")


def test_a_queue_shows_every_state_even_at_zero(ferry: Ferry, insights: Insights) -> None:
    ferry.push("mail")
    assert presentation.queue(insights.queue("mail")) == {
        "queue": "mail",
        "paused": False,
        "ready": 1,
        "scheduled": 0,
        "oldest_ready": 0,
        "states": {**dict.fromkeys(map(str, State), 0), "pending": 1},
    }


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "db_password",
        "passwd",
        "PWD",
        "token",
        "accessToken",
        "refresh-token",
        "tokens",
        "secret",
        "client_secret",
        "Authorization",
        "X-Api-Key",
        "apikey",
        "aws_secret_access_key",
        "private_key",
        "credentials",
        "Set-Cookie",
        "auth",
    ],
)
def test_a_value_under_a_secret_key_is_hidden_at_any_depth(key: str) -> None:
    value: Any = {key: "geheim"}
    for _ in range(20):
        value = {"a": [value, 1]}
    text = json.dumps(redacted(value))
    assert "geheim" not in text
    assert "***" in text


@pytest.mark.parametrize(
    ("key", "value"),
    [("max_tokens", 800), ("author", "ann"), ("passed", True), ("key", "k"), ("tokenizer", 3)],
)
def test_values_under_ordinary_keys_are_shown(key: str, value: object) -> None:
    assert redacted({key: value}) == {key: value}


def test_urls_lose_their_password_wherever_they_stand() -> None:
    assert redacted(["see redis://:geheim@cache:6379/0 and https://example.org/a:b@c"]) == [
        "see redis://:***@cache:6379/0 and https://example.org/a:b@c"
    ]


@pytest.mark.parametrize("body", ["[" * 5_000 + "]" * 5_000, "9" * 5_000, "{"])
def test_a_payload_that_nobody_can_read_is_shown_as_such(body: str) -> None:
    assert shown_json(body) == presentation.UNREADABLE
