"""What the store finds out about its own file, each with a real cause."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ferryman import Ferry, Filter
from ferryman.backends.sqlite import diagnosis, disk, location
from ferryman.backends.sqlite.diagnosis import library
from ferryman.errors import BackendRejected
from ferryman.events import Events
from ferryman.queue.diagnosis import Diagnosable, Finding, Severity
from ferryman.queue.open import open_backend
from ferryman.queue.traced import Traced

if TYPE_CHECKING:
    from pathlib import Path

OK, WARNING, PROBLEM = Severity


def findings(url: str, *, deep: bool = False) -> dict[str, Finding]:
    backend = open_backend(url)
    assert isinstance(backend, Diagnosable)
    found = {one.check: one for one in backend.diagnose(deep=deep)}
    backend.close()
    return found


def test_a_new_store_on_this_disk_is_well(tmp_path: Path) -> None:
    found = findings(f"sqlite:///{tmp_path}/jobs.db", deep=True)
    for check in ("schema", "synchronous", "write-ahead log", "permissions", "integrity"):
        assert found[check].severity is OK, found[check]
    assert [path.name for path in tmp_path.iterdir()] == ["jobs.db"], "the probe left nothing"


@pytest.mark.parametrize(
    ("version", "severity"),
    [
        ((3, 40, 1), WARNING),
        ((3, 44, 5), WARNING),
        ((3, 44, 6), OK),
        ((3, 45, 0), WARNING),
        ((3, 50, 7), OK),
        ((3, 51, 2), WARNING),
        ((3, 51, 3), OK),
        ((3, 53, 0), OK),
    ],
)
def test_releases_with_the_wal_reset_bug_are_known(
    version: tuple[int, ...], severity: Severity
) -> None:
    assert library(version).severity is severity


def test_normal_synchronous_is_told(tmp_path: Path) -> None:
    found = findings(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal")
    assert found["synchronous"].severity is WARNING


def test_a_log_that_a_long_transaction_makes_grow_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "LARGE_LOG", 8 << 20)
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:
        ferry.push("mail")
        reader = sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM jobs").fetchone()
        try:
            for number in range(12):
                ferry.push("mail", "x" * 900_000, id=f"large-{number}")
            found = findings(f"sqlite:///{tmp_path}/jobs.db")["write-ahead log"]
        finally:
            reader.close()
    assert found.severity is WARNING
    assert "jobs.db-wal has grown to" in found.what


def test_a_file_that_everybody_may_change_is_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    findings(url)
    (tmp_path / "jobs.db").chmod(0o666)
    found = findings(url)["permissions"]
    assert found.severity is WARNING
    assert "mode 666" in found.what


def test_files_of_different_owners_are_told(tmp_path: Path) -> None:
    path, log = tmp_path / "jobs.db", tmp_path / "jobs.db-wal"
    path.touch()
    if os.geteuid() == 0:
        log.touch()
        os.chown(log, 65_534, -1)
    else:
        log.symlink_to("/etc/passwd")  # a file of another user, without being root
    found = disk.permissions(path)
    assert found.severity is WARNING
    assert "belong to different users" in found.what


@pytest.mark.parametrize(
    ("kind", "severity", "what"),
    [
        ("ext4", OK, "ext4"),
        ("tmpfs", WARNING, "kept in memory"),
        ("overlay", WARNING, "layer of a container"),
        ("9p", PROBLEM, "virtual machine"),
    ],
)
def test_a_place_where_jobs_are_not_safe_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, severity: Severity, what: str
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / {kind} rw 0 0\n")
    monkeypatch.setattr(location, "MOUNTS", mounts)
    found = disk.file_system(tmp_path)
    assert found.severity is severity
    assert what in found.what


def test_a_system_that_does_not_tell_its_mounts_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "MOUNTS", tmp_path / "none")
    assert disk.file_system(tmp_path).severity is OK


def test_little_space_is_a_warning_and_hardly_any_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "LITTLE_SPACE", 1 << 60)
    assert disk.space(tmp_path).severity is WARNING
    monkeypatch.setattr(disk, "NO_SPACE", 1 << 60)
    assert disk.space(tmp_path).severity is PROBLEM


def test_a_slow_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SLOW_SYNC", 0.0)
    assert disk.sync(tmp_path).severity is WARNING


def test_a_folder_without_room_for_a_probe_is_a_problem(tmp_path: Path) -> None:
    found = disk.sync(tmp_path / "gone")
    assert found.severity is PROBLEM
    assert "No such file" in found.what


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1_500_000, "1.4 MiB"), (80 << 30, "80 GiB")]
)
def test_amounts_are_readable(size: int, text: str) -> None:
    assert disk.amount(size) == text


def test_damaged_pages_are_found_when_looked_for(tmp_path: Path) -> None:
    url, path = f"sqlite:///{tmp_path}/jobs.db", tmp_path / "jobs.db"
    with Ferry(url) as ferry:
        for number in range(300):
            ferry.push("mail", "x" * 500, id=f"job-{number}")
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4_096 * 4_096)
        file.write(b"\xff" * 4_096)
    assert "integrity" not in findings(url)
    found = findings(url, deep=True)["integrity"]
    assert found.severity is PROBLEM
    assert "jobs.db is damaged" in found.what
    with pytest.raises(BackendRejected, match="damaged"):
        open_backend(url).list(Filter.parse("payload.none:1"), limit=500)


def test_an_examination_drops_no_lock_of_its_own_process(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    backend = open_backend(f"sqlite:///{path}")
    assert isinstance(backend, Diagnosable)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    backend.diagnose(deep=True)
    code = (
        "import sqlite3, sys\n"
        "other = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try: other.execute('BEGIN IMMEDIATE')\n"
        "except sqlite3.OperationalError as error: print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    writer.close()
    backend.close()
    assert ran.stdout.strip() == "database is locked"


def test_the_traced_store_passes_the_examination_on(tmp_path: Path) -> None:
    with Ferry(f"sqlite:///{tmp_path}/jobs.db") as ferry:
        assert isinstance(ferry.backend, Traced)
        assert ferry.backend.diagnose()
    assert Traced(open_backend("memory://"), Events()).diagnose() == []
