"""SQL kept in files, one statement each, read once and called by the name of its file."""

from __future__ import annotations

from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from ferryman.backends.sql.rows import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def load(package: str, **columns: Iterable[str]) -> Mapping[str, str]:
    """The statements in a package's `sql` folder, by name.

    `{job}` in a statement stands for the columns of a job, `{name}` for those given as `name`.
    """
    lists = {"job": COLUMNS, **columns}
    return MappingProxyType(
        {name: _filled(text, lists) for name, text in _sql_files(package, "sql")}
    )


def schema(package: str) -> Sequence[str]:
    """The numbered files in a package's `schema` folder; the n-th leads to version n."""
    return tuple(text for _, text in sorted(_sql_files(package, "schema")))


def _filled(text: str, lists: Mapping[str, Iterable[str]]) -> str:
    for name, columns in lists.items():
        text = text.replace(f"{{{name}}}", ", ".join(columns))
    return text


def _sql_files(package: str, folder: str) -> Sequence[tuple[str, str]]:
    return [
        (entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8"))
        for entry in (files(package) / folder).iterdir()
        if entry.name.endswith(".sql")
    ]
