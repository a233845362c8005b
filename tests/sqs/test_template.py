"""The CloudFormation template makes the queues that `ferryman migrate` makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.aws.client import Client
from tests.servers.kinds import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferryman.queue.contract import Backend
    from tests.servers.shared import Server

TEMPLATE = Path(__file__).parents[2] / "docs" / "backends" / "sqs-queues.yaml"
SET = (
    "DelaySeconds",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "RedrivePolicy",
    "VisibilityTimeout",
)


@pytest.fixture
def cloudformation(ministack: Server, aws_settings: None) -> Iterator[Any]:
    where = {"endpoint": ministack.address, "region": "eu-west-1"}
    client = Client("cloudformation", **where, connect=5, answer=30, tries=1)
    yield client.get()
    client.close()


def queues(sqs: Any, prefix: str) -> dict[str, dict[str, object]]:
    """The settings of all queues with this prefix, without it."""
    found = {}
    for place in sqs.list_queues(QueueNamePrefix=f"{prefix}_")["QueueUrls"]:
        said = sqs.get_queue_attributes(QueueUrl=place, AttributeNames=["All"])["Attributes"]
        settings = {name: said[name] for name in SET if name in said}
        if "RedrivePolicy" in settings:
            policy = json.loads(settings["RedrivePolicy"].replace(prefix, ""))
            settings["RedrivePolicy"] = {name: str(value) for name, value in policy.items()}
        found[place.rpartition("/")[2].removeprefix(prefix)] = settings
    return found


@pytest.mark.parametrize("kept", ["yes", "no"])
def test_the_template_makes_the_queues_that_migrate_makes(
    join: Callable[..., Backend], cloudformation: Any, sqs: Any, project: str, kept: str
) -> None:
    store = join(**({} if kept == "yes" else {"ledger": None}))
    store.provision(["mail"])  # type: ignore[attr-defined]
    chosen = {"Prefix": project[::-1], "Queue": "mail", "Ledger": kept}
    cloudformation.create_stack(
        StackName=f"s{project}",
        TemplateBody=TEMPLATE.read_text(),
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in chosen.items()],
    )
    cloudformation.get_waiter("stack_create_complete").wait(
        StackName=f"s{project}", WaiterConfig={"Delay": 1, "MaxAttempts": 30}
    )
    made = queues(sqs, project[::-1])
    assert made == queues(sqs, project)
    assert len(made) == (3 if kept == "yes" else 4)


def test_cfn_lint_finds_nothing_in_the_template() -> None:
    said = subprocess.run(
        [program("cfn-lint"), str(TEMPLATE)], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
