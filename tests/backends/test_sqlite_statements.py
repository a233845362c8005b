"""The SQL files and the rows they give."""

from __future__ import annotations

import re
import sqlite3
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.backends.sql.rows import COLUMNS, job_of, storable
from ferryman.backends.sqlite import connect, connection, schema
from ferryman.backends.sqlite.schema import VERSIONS
from ferryman.backends.sqlite.transaction import SQL
from ferryman.job import Job, JobError, LogLine, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement
from ferryman.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

KEYWORDS = (
    "select from where and or not in is null insert into values update set delete order by limit "
    "desc returning union all exists case when then else end on conflict do ignore offset true"
)


@pytest.mark.parametrize("name", SQL)
def test_a_statement_starts_with_its_promise_and_is_one(name: str) -> None:
    promise, *lines = SQL[name].splitlines()
    assert re.fullmatch(r"-- [A-Z].*\.", promise)
    assert ";" not in "\n".join(lines)


@pytest.mark.parametrize("name", SQL)
def test_keywords_are_written_in_capitals(name: str) -> None:
    code = re.sub(r"--.*|'[^']*'|:\w+|\{\w+\}", "", SQL[name])
    assert set(re.findall(r"\b[a-z]+\b", code)) & set(KEYWORDS.split()) == set()


def test_every_statement_has_a_user() -> None:
    package = files("ferryman.backends.sqlite")
    code = "\n".join(entry.read_text() for entry in package.iterdir() if entry.name.endswith(".py"))
    by_variable = {"cancel", "pause", "resume", "retry", *(f"of_{state}" for state in State)}
    by_variable |= {"ended_tasks", "newest_ended", "newest_ready"}
    assert {name for name in SQL if f'"{name}"' not in code} <= by_variable


def test_a_row_becomes_the_job_that_its_columns_describe() -> None:
    values: dict[str, Any] = {name: f"<{name}>" for name in COLUMNS}
    row = tuple((values | {"state": "failed", "meta": '{"user": "1"}'}).values())
    error, line = (1, 2.0, "w", "ValueError", "boom", None), (3.0, "line")
    assert job_of(row, [error], [line]) == Job(
        **values | {"state": State.FAILED, "meta": {"user": "1"}},
        errors=(JobError(*error),),
        logs=(LogLine(*line),),
    )


def test_a_job_from_a_row_is_as_frozen_as_any_other() -> None:
    row = [None] * len(COLUMNS)
    job = job_of(["id", *row[1:4], "pending", *row[5:]])
    assert (type(job), job.state, job.meta, job.run) == (Job, State.PENDING, {}, None)
    with pytest.raises(AttributeError):
        job.id = "other"  # type: ignore[misc]


def test_text_that_utf8_cannot_hold_is_kept_readable() -> None:
    assert storable("naïve \udcff") == "naïve \\udcff"
    assert storable("naïve") == "naïve"
    assert storable(None) is None


def test_reports_with_lone_surrogates_do_not_stop_a_worker(tmp_path: Path) -> None:
    backend = connect(f"sqlite:///{tmp_path}/jobs.db", FakeClock())
    backend.push([Message.of("mail", "send", id="job")])
    backend.poll("w", {"mail": 1}, lease=60)
    bad = "file \udcff.txt"
    backend.heartbeat("w", [Beat("job", 1, note=bad, logs=(LogLine(1.0, bad),))], lease=60)
    error = JobError(1, 1.0, "w", "OSError", bad, bad)
    assert backend.settle([Settlement("job", 1, "w", "mail", Verdict.NACK, error=error)])[0].applied
    job = backend.get("job")
    assert job is not None
    assert (job.note, job.error, job.logs[0].text) == ("file \\udcff.txt",) * 3
    backend.close()


def test_log_lines_over_a_thousand_push_out_the_oldest(tmp_path: Path) -> None:
    backend = connect(f"sqlite:///{tmp_path}/jobs.db", FakeClock())
    backend.push([Message.of("mail", "send", id="job")])
    backend.poll("w", {"mail": 1}, lease=60)
    for start in range(0, 2_500, 500):
        lines = tuple(LogLine(1.0, str(n)) for n in range(start, start + 500))
        backend.heartbeat("w", [Beat("job", 1, logs=lines)], lease=60)
    job = backend.get("job")
    assert job is not None
    assert [line.text for line in job.logs] == [str(n) for n in range(1_500, 2_500)]
    backend.close()


def test_the_schema_marks_the_file_as_ours(tmp_path: Path) -> None:
    connect(f"sqlite:///{tmp_path}/jobs.db", FakeClock()).close()
    file = sqlite3.connect(tmp_path / "jobs.db")
    assert file.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"Frry"),)
    assert file.execute("PRAGMA user_version").fetchone() == (len(VERSIONS),)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    file.close()


def test_a_file_of_the_version_before_keeps_its_jobs_their_order_and_its_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    old = connect(url, FakeClock())
    old.push([Message(queue="mail", task="send", id=f"j{n}", priority=n % 2) for n in range(3)])
    old.close()
    file = sqlite3.connect(tmp_path / "jobs.db")
    file.execute("CREATE VIEW mails AS SELECT id FROM jobs")
    file.close()
    to_come = "ALTER TABLE jobs ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';\n"
    for module in (schema, connection):
        monkeypatch.setattr(module, "VERSIONS", (*VERSIONS, to_come))
    new = connect(url, FakeClock())
    new.push([Message(queue="mail", task="send", id="t", tenant="a")])
    assert [job.id for job in new.poll("w", {"mail": 9}, lease=60)] == ["j1", "j0", "j2", "t"]
    new.close()
    file = sqlite3.connect(tmp_path / "jobs.db")
    assert file.execute("PRAGMA user_version").fetchone() == (len(VERSIONS) + 1,)
    assert file.execute("SELECT count(*) FROM mails").fetchone() == (4,)
    file.close()
