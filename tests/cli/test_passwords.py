"""The password of a store's URL is in nothing that the command line says."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ferryman.queue.open import safe_url

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command, Run

URLS = [
    "postgresql://ana:geheim@127.0.0.1:1/jobs",
    "postgresql://ana:/geheim@x@127.0.0.1:1/jobs",
    "postgresql://ana:'geheim'@127.0.0.1:1/jobs",
    "postgresql://127.0.0.1:1/jobs?user=ana&password=geheim",
    "postgresql://127.0.0.1:1/jobs?user=ana&%70assword=geheim",
    "postgresql://[127.0.0.1:1/jobs?password=geheim",
    f"sqs://eu-west-1/shop?ledger={quote('postgresql://ana:geheim@h/d', safe='')}",
]
# Where the URL stands among the words, each of them wrong in its own way.
WRONG = [
    ["{}"],
    ["--{}"],
    ["--nope={}"],
    ["workers", "{}"],
    ["doctor", "sqlite:///jobs.db", "{}"],
    ["doctor", "--deeper", "{}"],
    ["doctor", "--deep={}"],
    ["doctor", "{}", "--url", "sqlite:///jobs.db"],
    ["jobs", "{}"],
    ["jobs", "list", "--limit", "{}"],
    ["jobs", "list", "state:{}"],
    ["migrate", "--sql", "--from", "{}"],
    ["prune", "--state", "{}"],
    ["top", "--every", "{}"],
    ["serve", "--port", "{}"],
    ["serve", "--app", "{}"],
    ["work", "{}"],
    ["work", "{}.py"],
    ["keys", "create", "ana", "--role", "{}"],
]


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("words", WRONG, ids=" ".join)
@pytest.mark.usefixtures("store")
def test_a_wrong_command_line_is_refused_without_its_password(
    run: Run, words: list[str], url: str
) -> None:
    shown = run(*(word.format(url) for word in words), code=2).output
    assert "geheim" not in shown


@pytest.mark.parametrize("words", [["doctor", "{}", "{}"], ["status", "{}"], ["{}"]])
def test_nor_does_the_real_command_repeat_it(command: Command, words: list[str]) -> None:
    process = command(*(word.format(URLS[1]) for word in words))
    assert "geheim" not in "".join(process.communicate(timeout=30))
    assert process.returncode in (2, 5)


def test_what_was_wrong_can_still_be_read(run: Run) -> None:
    shown = run("workers", "postgresql://ana:geheim@db/jobs", code=2).stderr
    assert "unexpected extra argument(s) (postgresql://ana:***@db/jobs)" in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/d?%70assword=geheim&a=1", "postgresql://h/d?%70assword=***&a=1"),
        ("postgresql://h/d?sslp%61ss%77ord=geheim", "postgresql://h/d?sslp%61ss%77ord=***"),
        ("postgresql://h/d?password=ge#heim", "postgresql://h/d?password=***"),
        ("postgresql://h/d?a=b%26c&options=-c%20x%3D1", None),
        ("s3://bucket/x?endpoint=http%3A%2F%2Fhost%3A4566", None),
        ("sqlite:///jobs.db", None),
        ("file:///a#b", None),
    ],
)
def test_an_option_is_hidden_by_its_meaning_and_others_stay_as_they_are(
    url: str, shown: str | None
) -> None:
    assert safe_url(url) == (url if shown is None else shown)


@pytest.mark.parametrize("name", ["ledger", "%6Cedger", "bodies"])
def test_a_url_inside_a_url_has_its_password_hidden_too(name: str) -> None:
    for inner in ("postgresql://ana:geheim@h/d", "postgresql://h/d?%70assword=geheim"):
        shown = safe_url(f"sqs://eu-west-1/shop?{name}={quote(inner, safe='')}&look=1")
        assert "geheim" not in shown
        assert shown.endswith("&look=1")


def test_a_url_that_nobody_can_read_is_not_repeated(home: Path) -> None:
    assert safe_url("postgresql://[ana:geheim@h/d") == "postgresql://***"
