"""The supervisor's loop, `ferryman sync`, and what `ferryman doctor` says about a bucket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from ferryman import Supervisor
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.home import Home
from ferryman.backends.s3.location import Location
from ferryman.errors import Unsupported
from ferryman.filter import Filter
from ferryman.ids import new_id
from ferryman.message import Message
from ferryman.queue.diagnosis import Severity
from ferryman.queue.open import open_backend
from ferryman.service.doctor import examine_url
from ferryman.testing.waiting import wait_until
from tests.servers.faults import checked_first, cut_before
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman.events import Event
    from tests.servers.shared import Server


@pytest.fixture
def prefix() -> str:
    return new_id()


def address(server: Server | Line, prefix: str, root: Path) -> str:
    return f"s3://{BUCKET}/{prefix}?root={root}&endpoint={quote(server.address, safe='')}"


def test_a_supervisor_brings_what_another_node_pushed(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    one, other = (address(ministack, prefix, tmp_path / name) for name in ("one", "other"))
    with closing(open_backend(one)) as store:
        store.push([Message.of("mail", "send", id="job")])
    with closing(Supervisor(other)) as supervisor:
        assert supervisor.once()["changed"] == 1
    assert (tmp_path / "other" / "mail" / "pending" / "job" / "task.json").exists()


def test_a_supervisor_outlives_an_outage(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    heard: list[Event] = []
    with Line(ministack.address) as line:
        line.fault(cut_before, times=FOREVER)
        supervisor = Supervisor(address(line, prefix, tmp_path / "one"), interval=0.05)
        supervisor.events.subscribe("*", heard.append)
        with supervisor.running():
            wait_until(lambda: any(e.name == "sync.failed" for e in heard), what="a failed pass")
            line.calm()
            wait_until(lambda: any(e.name == "sync.passed" for e in heard), what="a good pass")


def test_a_supervisor_publishes_the_status_of_its_node(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    with closing(Supervisor(address(ministack, prefix, tmp_path), node="pi-4")) as supervisor:
        supervisor.once()
    with closing(Bucket(BUCKET, endpoint=ministack.address)) as bucket:
        found = bucket.get(Home(Location(BUCKET, prefix)).node("pi-4"))
    assert found is not None
    status = json.loads(found.body)
    assert {"timestamp", "hostname", "system", "workers", "passed"} <= status.keys()


def test_a_store_without_a_mirror_has_nothing_to_sync() -> None:
    with closing(Supervisor("memory://")) as supervisor, pytest.raises(Unsupported, match="s3://"):
        supervisor.once()


def ferryman(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ferryman.cli.main", *arguments],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_makes_one_pass_and_tells_what_it_did(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    ran = ferryman("sync", address(ministack, prefix, tmp_path), "--once", "--json")
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["seen"] == 0
    assert told["unreadable"] == []


def test_the_command_says_that_the_store_cannot_be_reached(
    aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    url = f"s3://{BUCKET}/{prefix}?root={tmp_path}&endpoint=http%3A%2F%2F127.0.0.1%3A9"
    assert ferryman("sync", "--url", url, "--once").returncode == 5


def test_doctor_probes_that_the_endpoint_holds_its_conditions(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    findings = examine_url(address(ministack, prefix, tmp_path))
    found = {finding.check: finding.severity for finding in findings}
    for check in ("conditional create", "conditional replace", "conditional delete"):
        assert found[check] is Severity.OK
    assert Severity.PROBLEM not in found.values()
    told = [finding.what for finding in findings if finding.check.startswith("conditional")]
    assert all("by 4 writers at once" in what for what in told)


def test_doctor_finds_an_endpoint_that_checks_first_and_acts_later(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    with Line(ministack.address) as line:
        url = address(line, prefix, tmp_path)
        with closing(open_backend(url)) as store:
            store.push([Message.of("mail", "send", id="job")])
        line.fault(checked_first, method="PUT", times=FOREVER)
        found = {finding.check: finding for finding in examine_url(url)}
    raced = found["conditional create"]
    assert raced.severity is Severity.PROBLEM
    assert "more than one succeeded" in raced.what
    assert "consistency=relaxed" in raced.fix


def test_doctor_says_that_an_endpoint_ignores_conditions(
    rclone: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    [refused] = examine_url(address(rclone, prefix, tmp_path))
    assert refused.severity is Severity.PROBLEM
    assert "consistency=relaxed" in refused.what


def test_the_local_tree_can_be_listed_like_any_store(
    ministack: Server, aws_settings: None, tmp_path: Path, prefix: str
) -> None:
    with closing(open_backend(address(ministack, prefix, tmp_path))) as store:
        store.push([Message.of("mail", "send", id="job")])
        assert [job.id for job in store.list(Filter()).jobs] == ["job"]
