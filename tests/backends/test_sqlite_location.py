"""Which URLs name a database, and which places are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ferryman.backends.mounts import mount_type
from ferryman.backends.sqlite.location import NETWORK, Location
from ferryman.errors import BackendRejected
from ferryman.queue.open import open_backend

MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
server:/export /srv nfs4 rw 0 0
/dev/vdb /srv/local\\040disk xfs rw 0 0
//nas/share /mnt/nas cifs rw 0 0
tmpfs /mnt/nas tmpfs rw 0 0
me@host: /home/me/far fuse.sshfs rw 0 0
"""


def test_three_slashes_name_a_path_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Location.parse("sqlite:///jobs.db").path == tmp_path / "jobs.db"


def test_four_slashes_name_an_absolute_path() -> None:
    assert Location.parse("sqlite:////srv/jobs.db").path == Path("/srv/jobs.db")


def test_a_path_may_hold_spaces_and_escaped_signs() -> None:
    assert Location.parse("sqlite:////srv/my%20jobs%3F.db").path == Path("/srv/my jobs?.db")


def test_a_file_gets_the_very_name_that_the_url_means(tmp_path: Path) -> None:
    for _ in range(2):
        backend = open_backend(f"sqlite:///{tmp_path}/my%20jobs%3Fé%23%25.db")
        backend.snapshot()
        backend.close()
    assert [file.name for file in tmp_path.iterdir()] == ["my jobs?é#%.db"]


def test_writes_are_durable_and_patient_unless_the_url_says_otherwise() -> None:
    assert Location.parse("sqlite:////a.db") == Location(Path("/a.db"), "full", 5.0)
    chosen = Location.parse("sqlite:////a.db?synchronous=NORMAL&busy_timeout=0.5")
    assert chosen == Location(Path("/a.db"), "normal", 0.5)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:"])
def test_a_database_in_memory_is_refused_with_the_backend_to_use(url: str) -> None:
    with pytest.raises(BackendRejected, match="memory://"):
        Location.parse(url)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("sqlite:///a.db?journal=off", "journal"),
        ("sqlite:///a.db?mode=memory", "mode"),
        ("sqlite:///a.db?synchronous=off", "synchronous=off"),
        ("sqlite:///a.db?busy_timeout=soon", "busy_timeout=soon"),
        ("sqlite:///a.db?busy_timeout=-1", "busy_timeout=-1"),
        ("sqlite://jobs.db/x", "three slashes"),
        ("sqlite:///jobs#1.db", "%23"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(url: str, named: str) -> None:
    with pytest.raises(BackendRejected, match=named):
        Location.parse(url)


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(BackendRejected, match="missing does not exist: make it first"):
        open_backend(f"sqlite:///{tmp_path}/missing/jobs.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(BackendRejected, match="is a folder"):
        open_backend(f"sqlite:///{tmp_path}")


def test_normal_synchronous_is_not_called_durable(tmp_path: Path) -> None:
    for option, durable in (("full", True), ("normal", False)):
        backend = open_backend(f"sqlite:///{tmp_path}/{option}.db?synchronous={option}")
        assert backend.capabilities.durable is durable
        backend.close()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/srv/queue", "nfs4"),
        ("/srv/local disk/queue", "xfs"),
        ("/mnt/nas/queue", "tmpfs"),
        ("/home/me/far", "fuse.sshfs"),
        ("/home/me/farther", "ext4"),
    ],
)
def test_the_innermost_and_latest_mount_decides_the_file_system(folder: str, kind: str) -> None:
    assert mount_type(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "glusterfs"])
def test_network_file_systems_are_known(kind: str) -> None:
    assert NETWORK.fullmatch(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "fuse", ""])
def test_local_file_systems_are_let_through(kind: str) -> None:
    assert not NETWORK.fullmatch(kind)


def test_a_network_file_system_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/export {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr("ferryman.backends.sqlite.location.MOUNTS", mounts)
    with pytest.raises(BackendRejected, match=r"network file system \(nfs4\).*postgresql://"):
        open_backend(f"sqlite:///{tmp_path}/jobs.db")
    assert not (tmp_path / "jobs.db").exists()
