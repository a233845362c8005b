"""`ferryman report` prints a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ferryman import Ferry
    from tests.cli.conftest import Run


def test_it_prints_a_page_of_the_store(run: Run, store: Ferry) -> None:
    store.push("greet <b>", queue="mail")
    page = run("report").stdout
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "greet &lt;b&gt;" in page


def test_without_a_store_it_says_so(run: Run, home: Path) -> None:
    result = run("report", code=5)
    assert "there is no store" in result.stderr
    assert not list(home.glob("*.db"))
