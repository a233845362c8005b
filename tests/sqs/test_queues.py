"""The SQS queues themselves: made on request, found, looked at."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.errors import Unsupported
from ferryman.queue.diagnosis import Severity
from ferryman.queue.open import schema_of
from ferryman.testing import wait_until
from ferryman.testing.conformance.given import claim, claims, pushed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.sqs import DirectBackend, LedgerBackend


def test_provision_makes_what_a_queue_needs_and_may_be_repeated(
    join: Callable[..., LedgerBackend], project: str, sqs: Any
) -> None:
    store = join(create=0)
    for _ in range(2):
        made = store.provision(["mail", "post"])
    assert sorted(made) == sorted(
        f"{project}_{queue}{label}" for queue in ("mail", "post") for label in ("", "_high", "_low")
    )
    assert len(sqs.list_queues(QueueNamePrefix=project)["QueueUrls"]) == 6
    job_id = pushed(store, priority=3)
    assert claim(store).id == job_id


def test_without_a_ledger_the_failed_have_a_queue_too(
    join: Callable[..., DirectBackend], project: str
) -> None:
    assert f"{project}_mail_failed" in join(ledger=None, create=0).provision(["mail"])


def test_the_sql_is_that_of_the_ledger() -> None:
    url = "sqs://eu-west-1/shop"
    assert "CREATE TABLE jobs" in schema_of(f"{url}?ledger=sqlite%3A%2F%2F%2Fjobs.db")
    with pytest.raises(Unsupported, match="needs no SQL"):
        schema_of(url)


def test_a_redrive_policy_that_takes_messages_away_is_reported(
    join: Callable[..., LedgerBackend], project: str, sqs: Any
) -> None:
    store = join()
    pushed(store)
    found = [one for one in store.diagnose() if one.check == "sqs:mail"]
    assert [one.severity for one in found] == [Severity.OK]
    dead = sqs.create_queue(QueueName=f"{project}-dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    policy = {"deadLetterTargetArn": arn["Attributes"]["QueueArn"], "maxReceiveCount": 3}
    place = sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=place, Attributes={"RedrivePolicy": json.dumps(policy)})
    found = [one for one in store.diagnose() if one.check == "sqs:mail"]
    assert [one.severity for one in found] == [Severity.WARNING]


def test_a_missing_queue_is_reported(
    join: Callable[..., LedgerBackend], project: str, sqs: Any
) -> None:
    pushed(join())
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=f"{project}_mail")["QueueUrl"])
    found = [one for one in join(create=0).diagnose() if one.check == "sqs:mail"]
    assert [one.severity for one in found] == [Severity.PROBLEM]


def test_a_forked_child_works_beside_its_parent(join: Callable[..., LedgerBackend]) -> None:
    store = join()
    assert store.wait(["mail"], 0.05) is False
    pushed(store, "of the parent")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            pushed(store, "of the child")
            status = 0 if len(claims(store, 1)) == 1 else 2
        finally:
            os._exit(status)
    wait_until(lambda: os.waitpid(child, os.WNOHANG) == (child, 0), what="the child to end well")
    assert len(claims(store)) == 1
