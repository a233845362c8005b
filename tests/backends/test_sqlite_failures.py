"""What a caller is told when the file fails, each from a real cause."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferryman.backends.sqlite import SqliteBackend, connect
from ferryman.backends.sqlite.connection import Database
from ferryman.backends.sqlite.location import Location
from ferryman.backends.sqlite.schema import VERSIONS
from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.message import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDS_THE_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""

# Root may write anywhere, so root becomes nobody for this.
OPENS_AS_NOBODY = """
import ferryman.backends.sqlite
import os, sys
from ferryman.message import Message
from ferryman.queue.open import open_backend
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    open_backend(f"sqlite:///{sys.argv[1]}").push([Message.of("mail", "send")])
except Exception as error:
    print(type(error).__name__, error)
"""

# The log may not grow any further, as on a disk that fails: COMMIT breaks off in the middle.
BREAKS_OFF_THE_COMMIT = """
import json, os, resource, sys
from ferryman.errors import OutcomeUnknown
from ferryman.message import Message
from ferryman.queue.open import open_backend
backend = open_backend(f"sqlite:///{sys.argv[1]}")
backend.push([Message.of("mail", "send", id="before")])
limit = os.path.getsize(sys.argv[1] + "-wal") + 512
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
message = Message.of("mail", "send", id="broken")
try:
    backend.push([message])
except OutcomeUnknown as error:
    print(json.dumps(str(error)))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps([backend.push([message])[0].status in ("created", "existing")]))
print(json.dumps([job.id for job in backend.poll("w", {"mail": 9}, lease=60)]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SqliteBackend]:
    backend = opened(path, busy_timeout=0.2)
    yield backend
    backend.close()


def test_another_process_that_holds_the_lock_makes_it_unavailable_for_a_while(
    backend: SqliteBackend, path: Path
) -> None:
    backend.push([a_message("before")])
    with locked_by_another_process(path):
        with pytest.raises(BackendUnavailable, match="is locked by another process"):
            backend.push([a_message("refused")])
        assert backend.get("before") is not None
    assert backend.push([a_message("after")])[0].created
    assert backend.get("refused") is None


def test_a_lock_that_is_freed_in_time_is_waited_for(path: Path) -> None:
    patient = opened(path, busy_timeout=20)
    with locked_by_another_process(path) as other:
        assert other.stdin is not None
        other.stdin.close()
        assert patient.push([a_message("job")])[0].created
    patient.close()


def test_a_full_disk_refuses_the_write_and_keeps_what_was_accepted(
    backend: SqliteBackend,
) -> None:
    backend.push([a_message("before")])
    limit_pages(backend, spare=0)
    with pytest.raises(BackendUnavailable, match=r"disk is full.*free space"):
        backend.push([a_message(f"job {n}", "x" * 1_000) for n in range(100)])
    assert [job.id for job in backend.poll("w", {"mail": 200}, lease=60)] == ["before"]
    limit_pages(backend, spare=1_000)
    assert backend.push([a_message("after")])[0].created


def test_a_file_that_may_not_be_written_is_rejected() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.db")
        opened(path).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        said = run(OPENS_AS_NOBODY, path)
        path.parent.chmod(0o755)
    assert said.startswith("BackendRejected")
    assert "let this user" in said


def test_a_folder_that_may_not_be_written_is_rejected() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        said = run(OPENS_AS_NOBODY, Path(folder, "jobs.db"))
        Path(folder).chmod(0o755)
    assert said.startswith("BackendRejected")
    assert "let this user" in said


def test_a_commit_that_breaks_off_has_an_unknown_outcome_and_can_be_repeated(path: Path) -> None:
    unknown, repeated, claimed = map(json.loads, run(BREAKS_OFF_THE_COMMIT, path).splitlines())
    assert "repeat it with the same ids" in unknown
    assert repeated == [True]
    assert sorted(claimed) == ["before", "broken"]


def test_a_file_that_is_no_database_is_rejected_and_left_alone(path: Path) -> None:
    path.write_text("jobs, one a line\n" * 100)
    with pytest.raises(BackendRejected, match="is not an SQLite database"):
        opened(path)
    assert path.read_text() == "jobs, one a line\n" * 100


def test_a_damaged_database_is_rejected_with_the_way_to_repair_it(path: Path) -> None:
    opened(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(BackendRejected, match=r"is damaged.*\.recover"):
        opened(path).push([a_message("job")])


def test_another_programs_database_is_rejected_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as stranger:
        stranger.execute("CREATE TABLE songs (title TEXT)")
        stranger.commit()
    before = path.read_bytes()
    with pytest.raises(BackendRejected, match="another program's database"):
        opened(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_rejected_and_left_alone(path: Path) -> None:
    opened(path).close()
    raise_version(path)
    before = path.read_bytes()
    with pytest.raises(
        BackendRejected, match=rf"has schema version {len(VERSIONS) + 1}.*upgrade Ferryman"
    ):
        opened(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_rejected_as_often_as_it_is_tried(path: Path) -> None:
    opened(path).close()
    raise_version(path)
    database = Database(Location.parse(f"sqlite:///{path}"))
    for _ in range(2):
        with pytest.raises(BackendRejected, match="upgrade Ferryman"), database.reading():
            pass
    database.close()


def test_a_process_goes_on_with_new_connections_when_a_newer_version_migrates_its_store(
    backend: SqliteBackend, path: Path
) -> None:
    backend.push([a_message("before")])
    raise_version(path)
    database = backend._database
    with database.reading(), database.reading(), database.reading():
        backend.push([a_message("after")])
    # What a fork does: none is carried over.
    database.before_fork()
    database.after_fork()
    assert {job.id for job in backend.poll("w", {"mail": 5}, lease=60)} == {"before", "after"}
    assert version_of(path) == len(VERSIONS) + 1
    with pytest.raises(BackendRejected, match="upgrade Ferryman"):
        opened(path)


def test_an_empty_file_is_a_fresh_start(path: Path) -> None:
    path.touch()
    backend = opened(path)
    assert backend.push([a_message("job")])[0].created
    backend.close()


def test_a_file_deleted_under_a_running_process_never_looks_like_an_empty_queue(
    backend: SqliteBackend, path: Path
) -> None:
    backend.push([a_message("job")])
    path.unlink()
    for verb in (
        lambda: backend.push([a_message("lost")]),
        lambda: backend.poll("w", {"mail": 1}, lease=60),
        lambda: backend.wait(["mail"], 10),
        backend.snapshot,
    ):
        with pytest.raises(BackendRejected, match="was deleted or replaced while in use"):
            verb()
    assert not path.exists()


def test_a_file_deleted_under_a_long_wait_ends_it(backend: SqliteBackend, path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiter = pool.submit(backend.wait, ["mail"], 30)
        path.unlink()
        with pytest.raises(BackendRejected, match="was deleted or replaced while in use"):
            waiter.result(10)


def test_a_file_replaced_under_a_running_process_is_noticed(
    backend: SqliteBackend, path: Path, tmp_path: Path
) -> None:
    backend.push([a_message("job")])
    opened(tmp_path / "other.db").close()
    (tmp_path / "other.db").replace(path)
    with pytest.raises(BackendRejected, match="was deleted or replaced while in use"):
        backend.poll("w", {"mail": 1}, lease=60)


def test_a_closed_backend_says_so(backend: SqliteBackend) -> None:
    backend.close()
    with pytest.raises(BackendRejected, match="was closed"):
        backend.snapshot()
    with pytest.raises(BackendRejected, match="was closed"):
        backend.wait(["mail"], 10)


def a_message(job_id: str, payload: str | None = None) -> Message:
    return Message.of("mail", "send", payload, id=job_id)


def raise_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {len(VERSIONS) + 1}")


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        return int(file.execute("PRAGMA user_version").fetchone()[0])


def opened(path: Path, busy_timeout: float = 5) -> SqliteBackend:
    return connect(f"sqlite:///{path}?busy_timeout={busy_timeout}", SystemClock())


@contextmanager
def locked_by_another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS_THE_LOCK, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process


def limit_pages(backend: SqliteBackend, spare: int) -> None:
    with backend._database.peeking() as connection:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {used + spare}")


def run(script: str, path: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=True, timeout=30
    ).stdout
