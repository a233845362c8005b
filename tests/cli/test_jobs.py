from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import Fail, Ferry, Filter, Job, State
from ferryman.testing import drain
from tests.telemetry.hostile import HOSTILE

if TYPE_CHECKING:
    from tests.cli.conftest import Run


def states(store: Ferry) -> dict[str, str]:
    return {job.id: str(job.state) for job in store.backend.list(Filter(), limit=1_000).jobs}


def shown(text: str) -> Any:
    return json.loads(text)


@pytest.fixture
def failed(store: Ferry) -> list[str]:
    """Three failed jobs and a pending one, `d`."""

    @store.task(queue="mail")
    def explode(text: str) -> None:
        raise Fail(text)

    for name in "abc":
        explode.using(id=name).push(f"no {name}")
    drain(store)
    store.push("mail", "d", id="d")
    return ["a", "b", "c"]


# -- list and show


def test_jobs_are_listed_newest_first_with_their_news(
    run: Run, store: Ferry, failed: list[str]
) -> None:
    store.push("mail", id="later", delay=7_200)
    lines = [line.split() for line in run("jobs", "list").stdout.splitlines()]
    assert lines[0] == ["ID", "STATE", "QUEUE", "TASK", "ATTEMPTS", "AGE", "NEWS"]
    assert [line[0] for line in lines[1:]] == ["later", "d", "c", "b", "a"]
    assert lines[1][-3:] == ["due", "in", "1h"]
    assert lines[5] == ["a", "failed", "mail", "explode", "1/5", "0s", "no", "a"]


def test_filters_may_be_several_words_and_negated(run: Run, failed: list[str]) -> None:
    page = shown(run("jobs", "list", "state:failed", "error:no b", "--json").stdout)
    assert [job["id"] for job in page["jobs"]] == ["b"]
    page = shown(run("jobs", "list", "--json", "--", "-state:failed").stdout)
    assert [job["id"] for job in page["jobs"]] == ["d"]


def test_pages_are_continued_with_the_next_of_the_one_before(run: Run, failed: list[str]) -> None:
    first = shown(run("jobs", "list", "--limit", "3", "--json").stdout)
    assert first.keys() == {"jobs", "next"}
    rest = shown(run("jobs", "list", "--after", first["next"], "--json").stdout)
    assert [job["id"] for job in first["jobs"] + rest["jobs"]] == ["d", "c", "b", "a"]
    assert rest["next"] is None
    assert "--after" in run("jobs", "list", "--limit", "3").stderr


@pytest.mark.parametrize("words", [["state:nope"], ["nope:1"], ["--limit", "0"], ["--after", "x"]])
def test_a_filter_that_cannot_be_read_is_exit_code_2(
    run: Run, store: Ferry, words: list[str]
) -> None:
    assert run("jobs", "list", *words, code=2).stderr.startswith("ferryman: ")


def test_a_job_is_shown_whole(run: Run, store: Ferry) -> None:
    @store.task(queue="mail")
    def send(to: str, password: str, job: Job) -> str:
        job.log("connecting")
        job.progress(40, "page 40")
        raise Fail(f"no answer from {to}")

    send.using(id="a", meta={"user": "7"}).push("ann", "geheim")
    drain(store)
    text = run("jobs", "show", "a").stdout
    for part in ("failed", '"to": "ann"', '"password": "***"', '"user": "7"', "connecting"):
        assert part in text
    (job,) = shown(run("jobs", "show", "a", "--json").stdout)["jobs"]
    assert job["payload"] == {"to": "ann", "password": "***"}
    assert job["errors"][0]["text"] == "no answer from ann"
    assert job["logs"][0]["text"] == "connecting"
    assert (job["percent"], job["note"]) == (40, "page 40")
    assert job["finished_at"].endswith("Z")
    assert "geheim" not in text


def test_what_is_found_is_shown_even_if_another_is_missing(run: Run, failed: list[str]) -> None:
    result = run("jobs", "show", "nope", "a", "--json", code=3)
    assert [job["id"] for job in shown(result.stdout)["jobs"]] == ["a"]
    assert "no job 'nope'" in result.stderr


def test_hostile_text_reaches_no_terminal(run: Run, store: Ferry) -> None:
    hostile = HOSTILE.removesuffix("\ud800")

    @store.task(queue="mail")
    def explode(text: str, job: Job) -> None:
        job.log(text)
        job.progress(1, text)
        raise ValueError(text)

    explode.using(id="a").push(hostile)
    drain(store)
    outputs = [
        run(*words).stdout
        for words in (
            ("jobs", "list"),
            ("jobs", "show", "a"),
            ("jobs", "list", "--json"),
            ("jobs", "show", "a", "--json"),
        )
    ]
    for output in outputs:
        assert output.replace("\n", "").isprintable()
        assert not any(line.startswith("forged") for line in output.splitlines())
    assert shown(outputs[3])["jobs"][0]["payload"] == hostile


# -- acts


def test_each_act_leads_to_its_state(run: Run, store: Ferry) -> None:
    store.push("mail", id="a")
    for verb, after in [
        ("pause", "paused"),
        ("resume", "pending"),
        ("cancel", "cancelled"),
        ("retry", "pending"),
    ]:
        assert run("jobs", verb, "a").stdout == f"a: {after}\n"
        assert states(store) == {"a": after}
    assert run("jobs", "delete", "a", "--yes").stdout == "a: deleted\n"
    assert states(store) == {}


def test_a_running_job_is_only_asked(run: Run, store: Ferry) -> None:
    store.push("mail", id="a")
    store.backend.poll("w1", {"mail": 1}, lease=60)
    assert run("jobs", "cancel", "a").stdout == "a: asked to cancel\n"
    assert "asked to cancel" in run("jobs", "list").stdout
    assert "cannot be deleted while it runs" in run("jobs", "delete", "a", "-y", code=4).stderr


def test_one_refusal_among_several_does_not_stop_the_others(
    run: Run, store: Ferry, failed: list[str]
) -> None:
    result = run("jobs", "retry", "a", "d", "b", "--json", code=4)
    answer = shown(result.stdout)
    assert (answer["matched"], answer["done"], answer["refused"]) == (3, 2, 1)
    assert [(job["id"], job["state"]) for job in answer["jobs"]] == [
        ("a", "pending"),
        ("d", "pending"),
        ("b", "pending"),
    ]
    assert "only completed, failed and cancelled" in answer["jobs"][1]["refused"]
    assert "no job 'nope'" in run("jobs", "retry", "c", "nope", code=3).stderr
    assert set(states(store).values()) == {"pending"}


@pytest.mark.parametrize("verb", ["retry", "cancel", "delete"])
def test_a_bulk_act_needs_yes_and_tells_what_it_would_do(
    run: Run, store: Ferry, failed: list[str], verb: str
) -> None:
    before = states(store)
    words = ("jobs", verb, "--where", "queue:mail")
    allowed = {"retry": 3, "cancel": 1, "delete": 4}[verb]
    refused = run(*words, code=4)
    assert f"would {verb} {allowed} job" in refused.stderr
    assert "--yes" in refused.stderr
    assert states(store) == before
    assert shown(run(*words, "--yes", "--json").stdout) == {
        "matched": 4,
        "done": allowed,
        "refused": 4 - allowed,
    }


def test_bulk_pause_and_resume_can_be_undone_and_do_not_ask(
    run: Run, store: Ferry, failed: list[str]
) -> None:
    assert "1 done" in run("jobs", "pause", "--where", "state:pending").stdout
    assert states(store)["d"] == State.PAUSED
    assert "1 done" in run("jobs", "resume", "--where", "state:paused").stdout
    assert states(store)["d"] == State.PENDING


def test_a_deletion_by_id_needs_yes_too(run: Run, store: Ferry, failed: list[str]) -> None:
    assert "would delete 2 jobs" in run("jobs", "delete", "a", "b", code=4).stderr
    assert len(states(store)) == 4


@pytest.mark.parametrize("words", [[], ["a", "--where", "state:failed"], ["--where", ""]])
def test_an_act_needs_either_ids_or_a_filter(
    run: Run, store: Ferry, failed: list[str], words: list[str]
) -> None:
    run("jobs", "retry", *words, "--yes", code=2)
    assert states(store)["a"] == State.FAILED
