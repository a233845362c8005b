from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman import BackendRejected
from ferryman.service.store import NoStoreYet, open_store

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_file_is_not_made_unless_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "my jobs.db"
    url = f"sqlite:///{tmp_path}/my%20jobs.db"
    with pytest.raises(NoStoreYet, match=r"my jobs\.db"):
        open_store(url, create=False)
    assert not path.exists()
    for create in (True, False):
        backend = open_store(url, create=create)
        backend.snapshot()
        backend.close()
    assert path.exists()


def test_a_missing_folder_is_not_made_unless_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "my jobs"
    with pytest.raises(NoStoreYet, match="my jobs"):
        open_store(path.as_uri(), create=False)
    assert not path.exists()
    for create in (True, False):
        open_store(path.as_uri(), create=create).close()
    assert path.is_dir()


def test_a_store_inside_one_process_is_refused_with_the_way_out() -> None:
    with pytest.raises(BackendRejected, match=r"sqlite:///jobs\.db"):
        open_store("memory://", create=True)


@pytest.mark.parametrize("url", ["", "jobs.db", "sqlite://", "mysql://u:geheim@h/d"])
def test_a_url_that_names_no_store_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BackendRejected) as refusal:
        open_store(url, create=False)
    assert "geheim" not in str(refusal.value)
