from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman import Ferry
    from tests.cli.conftest import Run


def test_queues_are_listed_with_their_counts(run: Run, store: Ferry) -> None:
    store.push("mail")
    lines = [line.split() for line in run("queues", "list").stdout.splitlines()]
    assert lines[0][:2] == ["QUEUE", "READY"]
    assert lines[1] == ["mail", "1", "0", "0", "0", "0", "0", "0"]
    (queue,) = json.loads(run("queues", "list", "--json").stdout)["queues"]
    assert (queue["queue"], queue["ready"], queue["paused"]) == ("mail", 1, False)


def test_a_queue_is_paused_and_resumed(run: Run, store: Ferry) -> None:
    store.push("mail")
    assert run("queues", "pause", "mail").stdout == "mail: paused\n"
    assert store.backend.snapshot().queues["mail"].paused
    shown = json.loads(run("queues", "resume", "mail", "--json").stdout)
    assert shown == {"queue": "mail", "paused": False}
    assert not store.backend.snapshot().queues["mail"].paused


def test_pausing_a_queue_without_jobs_is_allowed_and_names_the_closest(
    run: Run, store: Ferry
) -> None:
    store.push("mail")
    result = run("queues", "pause", "mial")
    assert "has no jobs yet: did you mean 'mail'?" in result.stderr
    assert store.backend.snapshot().queues["mial"].paused


def test_resume_and_purge_of_an_unknown_queue_are_not_found(run: Run, store: Ferry) -> None:
    store.push("mail")
    for words in (("resume", "mial"), ("purge", "mial", "--yes")):
        assert "did you mean 'mail'" in run("queues", *words, code=3).stderr


def test_a_purge_needs_yes_and_tells_what_it_would_do(run: Run, store: Ferry) -> None:
    for number in range(3):
        store.push("mail", number)
    refused = run("queues", "purge", "mail", code=4)
    assert "would delete 3 pending or paused jobs of queue 'mail'" in refused.stderr
    assert "--yes" in refused.stderr
    assert store.backend.snapshot().queues["mail"].total == 3
    shown = json.loads(run("queues", "purge", "mail", "--yes", "--json").stdout)
    assert shown == {"queue": "mail", "purged": 3}
    assert "mail" not in store.backend.snapshot().queues


def test_no_command_but_push_and_work_makes_a_store(run: Run) -> None:
    for words in (["list"], ["pause", "a"], ["resume", "a"], ["purge", "a", "--yes"]):
        assert "no store" in run("queues", *words, code=5).stderr
