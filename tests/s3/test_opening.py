"""What strict demands of an endpoint before it starts, and for which endpoint that was shown."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3 import opening
from ferryman.backends.s3.bucket import Bucket
from ferryman.backends.s3.location import Location
from ferryman.backends.s3.opening import root_of
from ferryman.errors import BackendRejected
from ferryman.queue.open import open_backend
from tests.s3.nodes import node, push, relaxed_node
from tests.servers import faults
from tests.servers.kinds import BUCKET
from tests.servers.line import FOREVER, Line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.line import Exchange
    from tests.servers.shared import Server


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has opened no store yet."""
    monkeypatch.setattr(opening, "_held", set())


@pytest.fixture
def racy(line: Line) -> Line:
    """A server that holds every condition for one writer at a time, and for no more."""
    line.fault(faults.checked_first, method="PUT", times=FOREVER)
    line.fault(faults.checked_first, method="DELETE", times=FOREVER)
    return line


@pytest.fixture
def endpoints(ministack: Server, line: Line) -> Iterator[tuple[Line, Line]]:
    """Two addresses, which may be those of two stores."""
    with Line(ministack.address) as second:
        yield line, second


@pytest.fixture
def url(aws_settings: None, prefix: str, tmp_path: Path) -> str:
    """A store whose endpoint the AWS settings have to name."""
    return f"s3://{BUCKET}/{prefix}?root={tmp_path}/root"


def probes(line: Line) -> list[str]:
    """Grows by one for each probe: it removes its objects by a request of a kind of its own."""
    found: list[str] = []

    def note(exchange: Exchange) -> None:
        found.append(exchange.path)
        exchange.answer(exchange.forward())

    line.fault(note, method="POST", times=FOREVER)
    return found


def test_strict_does_not_start_on_a_server_that_heeds_no_condition(
    rclone: Server, aws_settings: None, prefix: str, tmp_path: Path
) -> None:
    with pytest.raises(BackendRejected, match="ignored") as refused:
        node(rclone.address, prefix, tmp_path)
    assert f"s3://{BUCKET} at {rclone.address}" in str(refused.value)
    assert "consistency=relaxed" in str(refused.value)


def test_strict_does_not_start_on_a_server_that_checks_first_and_acts_later(
    racy: Line, aws_settings: None, prefix: str, tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(BackendRejected, match="more than one succeeded") as refused:
            node(racy.address, prefix, tmp_path)
        assert "PUT with If-None-Match" in str(refused.value)
        assert "consistency=relaxed" in str(refused.value)


def test_relaxed_starts_wherever_objects_can_be_kept(
    racy: Line, aws_settings: None, prefix: str, tmp_path: Path
) -> None:
    with closing(relaxed_node(racy.address, prefix, tmp_path)) as store:
        assert push(store) == "created"


def test_an_endpoint_is_probed_once_a_day_for_all_processes_of_a_node(
    line: Line, aws_settings: None, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = probes(line)
    for _ in range(2):
        node(line.address, prefix, tmp_path).close()
        monkeypatch.setattr(opening, "_held", set())
    assert len(found) == 1
    monkeypatch.setattr(opening, "PROBED", 0.0)
    node(line.address, prefix, tmp_path).close()
    assert len(found) == 2


@pytest.mark.parametrize("setting", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_an_endpoint_of_the_environment_is_probed_like_that_of_a_url(
    endpoints: tuple[Line, Line], url: str, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    for server in endpoints:
        found = probes(server)
        monkeypatch.setenv(setting, server.address)
        open_backend(url).close()
        assert len(found) == 1


def test_an_endpoint_of_a_profile_is_the_one_that_is_probed(
    racy: Line, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "config"
    settings.write_text(f"[profile far]\nregion = us-east-1\nendpoint_url = {racy.address}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(settings))
    monkeypatch.setenv("AWS_PROFILE", "far")
    with pytest.raises(BackendRejected, match=racy.address):
        open_backend(url)


def default_root(url: str) -> str:
    location = Location.parse(url)
    with closing(Bucket.at(location)) as bucket:
        return root_of(location, bucket)


def test_two_endpoints_never_share_the_root_that_nobody_named(
    aws_settings: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    url = f"s3://{BUCKET}/team"
    roots = [default_root(url)]
    for setting in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(setting, f"http://{setting.lower().replace('_', '-')}:9000")
        roots.append(default_root(url))
    assert len(set(roots)) == 3
    assert all(root.startswith(f"{tmp_path}/") for root in roots)
    named = default_root(f"{url}?endpoint=http://aws-endpoint-url-s3:9000/")
    assert named == roots[-1]


def test_an_endpoint_of_the_settings_that_is_no_address_is_named(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "minio:9000")
    with pytest.raises(BackendRejected, match=r"minio:9000.*AWS_ENDPOINT_URL"):
        open_backend(url)
