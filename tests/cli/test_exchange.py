"""`export` and `import`: a folder of files as the form in which jobs travel."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from ferryman.queue.open import open_backend
from ferryman.testing.conformance.cargo import assert_same_jobs, populate, whole
from ferryman.testing.conformance.given import (
    claim,
    claimed,
    fail,
    nack,
    pushed,
    settle,
    state_of,
    the_job,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ferryman.queue.contract import Backend
    from tests.cli.conftest import Run

SRC = "sqlite:///jobs.db"
DST = "sqlite:///elsewhere.db"


@pytest.fixture
def source(home: Path) -> Iterator[Backend]:
    with closing(open_backend(SRC)) as store:
        yield store


@pytest.fixture
def target(home: Path) -> Iterator[Backend]:
    with closing(open_backend(DST)) as store:
        yield store


def test_jobs_travel_through_a_folder_and_nothing_changes_at_the_source(
    run: Run, source: Backend, target: Backend, home: Path
) -> None:
    populate(source, rounds=3)
    before = whole(source)
    shown = run("export", SRC, "incident").stdout
    assert shown == f"{len(before)} jobs exported to {(home / 'incident').as_uri()}\n"
    assert whole(source) == before
    shown = run("import", "incident", DST).stdout
    assert shown == f"{len(before)} jobs imported to {DST}\n"
    assert_same_jobs(whole(target), before)


def test_the_folder_is_a_store_like_any_other(run: Run, source: Backend, home: Path) -> None:
    job_id = pushed(source, {"to": "ana"})
    run("export", SRC, "incident")
    url = (home / "incident").as_uri()
    assert job_id in run("jobs", "list", "--url", url).stdout
    run("move", url, DST)
    with closing(open_backend(DST)) as there:
        assert claim(there).payload == {"to": "ana"}


def test_a_filter_chooses_and_json_tells(run: Run, source: Backend, home: Path) -> None:
    populate(source)
    where = ("--where", "state:failed queue:post", "--json")
    url = (home / "incident").as_uri()
    told = {"source": SRC, "target": url, "exported": 1, "existing": 0, "left": []}
    assert json.loads(run("export", SRC, "incident", *where).stdout) == told
    told = {"source": url, "target": DST, "imported": 1, "existing": 0, "left": []}
    assert json.loads(run("import", url, DST, *where).stdout) == told


def test_an_export_again_adds_what_is_new_and_renews_what_went_on(
    run: Run, source: Backend, home: Path
) -> None:
    old = pushed(source, 1)
    run("export", SRC, "incident")
    settle(source, fail(claim(source), "no answer"))
    new = pushed(source, 2)
    assert "2 jobs exported" in run("export", SRC, "incident").stdout
    with closing(open_backend((home / "incident").as_uri())) as folder:
        assert (the_job(folder, old).error, state_of(folder, new)) == ("no answer", "pending")


def test_an_export_again_follows_a_pause_and_its_end(run: Run, source: Backend, home: Path) -> None:
    job_id = pushed(source)
    run("export", SRC, "incident")
    with closing(open_backend((home / "incident").as_uri())) as folder:
        for act, state in ((source.pause, "paused"), (source.resume, "pending")):
            act([job_id])
            assert "1 job exported" in run("export", SRC, "incident").stdout
            assert state_of(folder, job_id) == state


def test_an_export_again_leaves_a_copy_that_went_further(
    run: Run, source: Backend, home: Path
) -> None:
    job_id = pushed(source)
    run("export", SRC, "incident")
    source.pause([job_id])
    with closing(open_backend((home / "incident").as_uri())) as folder:
        settle(folder, nack(claim(folder)))
        run("export", SRC, "incident")
        assert (state_of(folder, job_id), the_job(folder, job_id).attempts) == ("pending", 1)


def test_an_import_changes_nothing_that_is_there(
    run: Run, source: Backend, target: Backend
) -> None:
    pushed(source, "body", id="known")
    pushed(source, "body", id="taken")
    run("export", SRC, "incident")
    pushed(target, "body", id="known", priority=7)
    pushed(target, "other", id="taken")
    shown = run("import", "incident", DST, code=4)
    assert "1 job imported" in shown.stdout
    assert "1 of them known there" in shown.stdout
    assert "taken (mail): the target has other work under this id" in shown.stderr
    assert (the_job(target, "known").priority, the_job(target, "taken").payload) == (7, "other")


def test_a_job_that_runs_is_exported_as_one_that_waits(
    run: Run, source: Backend, home: Path
) -> None:
    job = claimed(source)
    run("export", SRC, "incident")
    assert state_of(source, job.id) == "processing"
    with closing(open_backend((home / "incident").as_uri())) as folder:
        assert state_of(folder, job.id) == "pending"


def test_a_folder_that_is_not_there_cannot_be_imported(run: Run, home: Path) -> None:
    assert "nowhere" in run("import", "nowhere", DST, code=5).output
    assert not (home / "nowhere").exists()


def test_an_empty_folder_cannot_be_imported_and_stays_empty(run: Run, home: Path) -> None:
    (home / "empty").mkdir()
    shown = run("import", "empty", DST, code=5).stderr
    assert f"there is no store at {home / 'empty'} yet" in shown
    assert list((home / "empty").iterdir()) == []


@pytest.mark.parametrize("name", ["with space", "50%", "ü#?"])
def test_any_name_of_a_folder_will_do(run: Run, source: Backend, home: Path, name: str) -> None:
    pushed(source)
    run("export", SRC, name)
    assert (home / name).is_dir()
    assert "1 job imported" in run("import", name, DST).stdout
