"""cells: small shared values with compare-and-set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.testing.conformance.given import ODD_NAMES
from ferryman.testing.conformance.store import Store, needs

if TYPE_CHECKING:
    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend
    from ferryman.testing.clock import FakeClock


class Cells(Store):
    def test_a_new_cell_has_version_one(self, backend: Backend) -> None:
        cell = written(backend, "breaker/gemini", "open", expect=0)
        assert (cell.key, cell.value, cell.version) == ("breaker/gemini", "open", 1)
        assert cell.expires_at is None
        assert the_cell(backend, "breaker/gemini") == cell

    def test_every_write_of_a_cell_grows_its_version(self, backend: Backend) -> None:
        versions = [written(backend, "k", str(n), expect=n).version for n in range(4)]
        assert versions == [1, 2, 3, 4]
        assert the_cell(backend, "k").value == "3"

    def test_a_cell_that_exists_is_not_created_again(self, backend: Backend) -> None:
        written(backend, "k", "first", expect=0)
        assert backend.write_cell("k", "second", expect=0) is None
        assert the_cell(backend, "k").value == "first"

    @pytest.mark.parametrize("expect", [1, 3, 99])
    def test_a_cell_of_another_version_is_not_written(self, backend: Backend, expect: int) -> None:
        written(backend, "k", "one", expect=0)
        written(backend, "k", "two", expect=1)
        assert backend.write_cell("k", "lost", expect=expect) is None
        assert the_cell(backend, "k").value == "two"

    def test_a_missing_cell_has_no_version_to_expect(self, backend: Backend) -> None:
        needs(backend, "cells")
        assert backend.write_cell("k", "lost", expect=1) is None
        assert list(backend.read_cells("k")) == []

    def test_a_cell_can_be_written_whatever_its_version(self, backend: Backend) -> None:
        assert written(backend, "k", "one", expect=None).version == 1
        assert written(backend, "k", "two", expect=None).version == 2

    def test_a_deleted_cell_is_answered_and_gone(self, backend: Backend) -> None:
        written(backend, "k", "one", expect=0)
        deleted = backend.write_cell("k", None, expect=1)
        assert deleted is not None
        assert (deleted.key, deleted.value) == ("k", "one")
        assert list(backend.read_cells("k")) == []

    def test_a_cell_of_another_version_is_not_deleted(self, backend: Backend) -> None:
        written(backend, "k", "one", expect=0)
        assert backend.write_cell("k", None, expect=7) is None
        assert the_cell(backend, "k").value == "one"

    def test_versions_go_on_growing_when_a_deleted_cell_is_written_again(
        self, backend: Backend
    ) -> None:
        before = written(backend, "k", "one", expect=0)
        backend.write_cell("k", None, expect=None)
        again = written(backend, "k", "two", expect=0)
        assert again.version > before.version
        assert backend.write_cell("k", "stale", expect=before.version) is None

    def test_a_cell_expires_after_its_ttl(self, backend: Backend, clock: FakeClock) -> None:
        cell = written(backend, "k", "one", expect=0, ttl=30)
        assert cell.expires_at == clock.now() + 30
        clock.advance(29)
        assert the_cell(backend, "k") == cell
        clock.advance(2)
        assert list(backend.read_cells("")) == []

    def test_versions_go_on_growing_when_an_expired_cell_is_written_again(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        before = written(backend, "k", "one", expect=0, ttl=30)
        clock.advance(31)
        again = written(backend, "k", "two", expect=0)
        assert again.version > before.version
        assert again.expires_at is None

    def test_a_write_renews_the_ttl_of_a_cell(self, backend: Backend, clock: FakeClock) -> None:
        written(backend, "k", "one", expect=0, ttl=30)
        clock.advance(20)
        written(backend, "k", "two", expect=1, ttl=30)
        clock.advance(20)
        assert the_cell(backend, "k").value == "two"

    def test_a_write_without_ttl_makes_a_cell_last(
        self, backend: Backend, clock: FakeClock
    ) -> None:
        written(backend, "k", "one", expect=0, ttl=30)
        written(backend, "k", "two", expect=1)
        clock.advance(3_600)
        assert the_cell(backend, "k").value == "two"

    def test_cells_are_read_by_prefix_in_the_order_of_their_keys(self, backend: Backend) -> None:
        for key in ("worker/b", "worker/a", "breaker/x", "worker", "Worker/c", "worker/c"):
            written(backend, key, key, expect=0)
        keys = [cell.key for cell in backend.read_cells("worker/")]
        assert keys == ["worker/a", "worker/b", "worker/c"]

    def test_the_empty_prefix_reads_every_cell(self, backend: Backend) -> None:
        for key in ("b", "a", "⛴"):
            written(backend, key, "", expect=0)
        assert [cell.key for cell in backend.read_cells("")] == ["a", "b", "⛴"]

    @pytest.mark.parametrize("prefix", ODD_NAMES)
    def test_odd_prefixes_of_cells_are_literal(self, backend: Backend, prefix: str) -> None:
        written(backend, f"{prefix}/1", "mine", expect=0)
        written(backend, "xx/1", "other", expect=0)
        written(backend, "underxscore/1", "other", expect=0)
        assert [cell.value for cell in backend.read_cells(prefix)][:1] == ["mine"]
        assert len(backend.read_cells(f"{prefix}/")) == 1

    def test_the_value_of_a_cell_comes_back_exactly(self, backend: Backend) -> None:
        value = '{"é": "⛴"}\n' * 5_000
        written(backend, "k", value, expect=0)
        assert the_cell(backend, "k").value == value

    def test_cells_and_jobs_do_not_meet(self, backend: Backend) -> None:
        written(backend, "mail", "value", expect=0)
        backend.purge("mail")
        assert the_cell(backend, "mail").value == "value"
        assert "mail" not in backend.snapshot().queues


def written(
    backend: Backend, key: str, value: str, *, expect: int | None, ttl: float | None = None
) -> Cell:
    needs(backend, "cells")
    cell = backend.write_cell(key, value, expect=expect, ttl=ttl)
    assert cell is not None, f"cell {key!r} was not written, expecting version {expect}"
    return cell


def the_cell(backend: Backend, key: str) -> Cell:
    cells = [cell for cell in backend.read_cells(key) if cell.key == key]
    assert len(cells) == 1, f"one cell {key!r} was expected, got {cells}"
    return cells[0]
