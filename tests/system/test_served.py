"""A PostgreSQL server that crashes under load, beside the kills of the processes that use it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.system.test_campaign import COLUMNS, campaign, result

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(180)
def test_crashes_of_the_server_break_no_promise(tmp_path: Path) -> None:
    code, said, errors = campaign(tmp_path, "--backend", "postgresql", "--kills", "40")
    assert code == 0, said + errors
    row = result(tmp_path)
    assert {row[column] for column in COLUMNS} == {0}
    crashed = re.search(r"server +(\d+) times crashed", said)
    assert crashed is not None
    assert int(crashed[1]) >= 3
