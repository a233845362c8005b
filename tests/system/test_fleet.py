"""Campaigns on a real S3 server, small ones: three nodes, cut off and killed.

They need no more than PyPI, but a minute and a half, which `make test` has no room for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.system.test_campaign import COLUMNS, campaign, caught, result

if TYPE_CHECKING:
    from pathlib import Path

S3 = ("--backend", "s3", "--seed", "892")
"""A short plan in which processes freeze, a node is cut off, and one dies and loses its folder."""


@pytest.mark.timeout(180)
def test_strict_nodes_break_no_promise(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, *S3, "--consistency", "strict", "--kills", "12")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS} == {0}
    assert (row["backend"], row["kills"]) == ("s3", 12)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.timeout(180)
def test_relaxed_nodes_lose_nothing_and_count_what_ended_twice(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, *S3, "--consistency", "relaxed", "--kills", "12")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS - {"finished_twice"}} == {0}
    assert (row["backend"], row["kills"]) == ("s3 relaxed", 12)
    assert f"{row['finished_twice']} jobs ended more than once" in said


@pytest.mark.timeout(240)
def test_claims_without_a_condition_are_caught(tmp_path: Path) -> None:
    assert caught(tmp_path, "finished_twice", *S3, "--kills", "3", "--broken", "claim")


@pytest.mark.timeout(240)
def test_acks_without_a_fence_are_caught(tmp_path: Path) -> None:
    options = ("--consistency", "strict", "--kills", "25", "--broken", "fence")
    assert caught(tmp_path, "finished_twice", *S3, *options)
