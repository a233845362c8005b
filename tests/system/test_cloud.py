"""Campaigns on SQS that does things twice, in part, out of order or not now; small ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.system.test_campaign import COLUMNS, campaign, result

if TYPE_CHECKING:
    from pathlib import Path

SQS = ("--backend", "sqs", "--seed", "31")
DOUBLED = ("back after delete", "seen twice", "sent twice", "shuffled")


def befell(said: str) -> dict[str, int]:
    """How often each misfortune befell a request."""
    line = re.search(r"^requests +(.*)$", said, re.MULTILINE)
    assert line is not None, said
    return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", line[1])}


@pytest.mark.timeout(180)
def test_before_a_ledger_each_job_is_completed_once(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, *SQS, "--ledger", "sqlite", "--kills", "20")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS} == {0}
    assert (row["backend"], row["kills"]) == ("sqs", 20)
    assert befell(said).keys() >= set(DOUBLED)


@pytest.mark.timeout(240)
def test_without_one_nothing_is_lost_and_what_ran_twice_is_counted(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, *SQS, "--ledger", "none", "--kills", "20")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS - {"finished_twice"}} == {0}
    assert (row["backend"], row["finished_twice"] > 0) == ("sqs alone", True)
    assert f"{row['finished_twice']} jobs ran to their end more than once" in said
    assert befell(said).keys() >= set(DOUBLED)
