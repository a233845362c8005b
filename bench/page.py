"""`python -m bench.page`: puts the figures of the last runs into docs/performance.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.machine import machine
from bench.result import read
from bench.table import HEADER, cells, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "performance.md"


def main() -> None:
    """Each part whose file is there; the others stay as they are."""
    text = PAGE.read_text()
    for name in ("results", "long"):
        if (source := HERE / f"{name}.json").exists():
            rows = [cells(result) for result in read(source)]
            text = fill(text, name, _machine(source), _markdown(HEADER, rows))
    if (source := HERE / "peers.json").exists():
        rows = json.loads(source.read_text())
        for store in {row["store"]: row for row in rows}:
            same = [row for row in rows if row["store"] == store]
            text = fill(text, f"peers-{store}", _machine(source), _peers(same))
    PAGE.write_text(text)


def fill(text: str, name: str, measured: str, table: str) -> str:
    """The page with this table between the marks of its name; one that is there keeps its date."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, _, rest = text.partition(start)
    present, _, after = rest.partition(end)
    if not present.endswith(f"\n\n{table}"):
        present = f"{measured}\n\n{table}"
    return before + start + present + end + after


def _machine(source: Path) -> str:
    return machine(source.stat().st_mtime)


def _peers(rows: Sequence[dict[str, Any]]) -> str:
    columns = list(rows[0]["figures"])
    return _markdown(["", *columns], [_peer(row, columns) for row in rows])


def _peer(row: dict[str, Any], columns: Sequence[str]) -> Sequence[str]:
    cells = [
        f"{figure(row['figures'][column])} ({row['ratios'][column]:.2f})"
        if row["figures"][column] is not None
        else "–"
        for column in columns
    ]
    return [f"{row['peer']} {row['version']}".strip(), *cells]


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
