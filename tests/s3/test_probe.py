"""The probe believes only what it has seen a server do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3 import probe as probes
from ferryman.backends.s3.probe import Condition, Verdict, probe
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.queue.diagnosis import Severity
from tests.s3.test_costs import DOCS
from tests.servers import faults
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.s3.bucket import Bucket
    from tests.servers.faults import Fault
    from tests.servers.line import Line
    from tests.servers.shared import Server


def test_a_server_that_holds_conditions_is_trusted(bucket: Bucket, folder: str) -> None:
    probed = probe(bucket, folder)
    assert probed.held
    probed.require()
    findings = probed.findings()
    assert [finding.check for finding in findings] == list(Condition)
    assert all(finding.severity is Severity.OK for finding in findings)
    assert list(bucket.list(folder)) == []


def test_the_probe_takes_as_many_requests_as_documented(other: Bucket, folder: str) -> None:
    probe(other, folder)
    [told] = re.findall(r"at most (\d+) requests", " ".join(DOCS.read_text().split()))
    assert sum(other.requests.values()) <= int(told)


def test_a_server_that_heeds_no_condition_is_refused(
    rclone: Server, connect: Callable[..., Bucket], folder: str
) -> None:
    bucket = connect(rclone.address)
    probed = probe(bucket, folder)
    assert set(probed.verdicts.values()) == {Verdict.IGNORED}
    assert all(finding.severity is Severity.PROBLEM for finding in probed.findings())
    with pytest.raises(BackendRejected, match=r"If-None-Match.*If-Match.*relaxed") as refused:
        probed.require()
    assert f"s3://{BUCKET} at {rclone.address}" in str(refused.value)
    assert list(bucket.list(folder)) == []


@pytest.mark.parametrize(
    ("request_line", "condition"),
    [
        ("PUT If-None-Match", Condition.CREATE),
        ("PUT If-Match", Condition.REPLACE),
        ("DELETE If-Match", Condition.DELETE),
    ],
)
def test_the_one_condition_that_is_ignored_is_named(
    request_line: str, condition: Condition, line: Line, steady: Bucket, folder: str
) -> None:
    method, header = request_line.split()
    line.fault(faults.without(header), method=method, times=FOREVER)
    verdicts = dict(probe(steady, folder).verdicts)
    assert verdicts.pop(condition) is Verdict.IGNORED
    assert set(verdicts.values()) == {Verdict.HELD}


def test_a_server_that_checks_first_and_acts_later_is_found_by_racing(
    line: Line, steady: Bucket, folder: str
) -> None:
    line.fault(faults.checked_first, method="PUT", times=FOREVER)
    line.fault(faults.checked_first, method="DELETE", times=FOREVER)
    assert probe(steady, folder, rounds=0).held
    verdicts = probe(steady, folder).verdicts
    assert verdicts[Condition.CREATE] is Verdict.RACED
    assert verdicts[Condition.REPLACE] is Verdict.RACED


def test_a_request_that_is_not_implemented_is_named(
    line: Line, steady: Bucket, folder: str
) -> None:
    line.fault(faults.error_before(501, "NotImplemented"), method="DELETE", times=FOREVER)
    probed = probe(steady, folder)
    assert probed.verdicts[Condition.DELETE] is Verdict.REFUSED
    with pytest.raises(BackendRejected, match="DELETE with If-Match is not implemented"):
        probed.require()


@pytest.mark.parametrize("fault", [faults.cut_after, faults.error_after(500), faults.twice])
def test_passing_faults_do_not_change_the_verdict(
    fault: Fault, line: Line, steady: Bucket, folder: str
) -> None:
    line.fault(fault, times=FOREVER, chance=0.2)
    try:
        assert probe(steady, folder).held
    except BackendUnavailable:
        assert fault is not faults.twice


def test_a_server_that_is_down_is_an_outage_and_no_verdict(
    line: Line, steady: Bucket, folder: str
) -> None:
    line.close()
    with pytest.raises(BackendUnavailable):
        probe(steady, folder)


def test_what_a_killed_probe_left_is_removed_later(
    other: Bucket, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.put(f"{folder}old/0.json", b"left")
    assert probe(other, folder, rounds=0).held
    assert len(list(other.list(folder))) == 1
    monkeypatch.setattr(probes, "LEFT_BEHIND", -2.0)
    assert probe(other, folder, rounds=0).held
    assert list(other.list(folder)) == []
