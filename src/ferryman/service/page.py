"""A page of plain HTML: every text is escaped, and nothing is fetched or run."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING, Final

from ferryman.telemetry.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_TEXT: Final = 1_000

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b2733; --soft: #5a6b7b; --line: #d8e0e7;
  --paper: #fff; --tile: #f3f6f9; --bad: #b3261e; --good: #1a6b3a; --warn: #8a5300; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ef; --soft: #9fb0bf; --line: #2f3c48;
  --paper: #12181e; --tile: #1b242d; --bad: #ff9c94; --good: #79d69b; --warn: #f2bd6d; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { color: var(--soft); margin: .2rem 0; }
dl { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); }
dl div { background: var(--tile); border-radius: .5rem; padding: .5rem .8rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { font-size: 1.3rem; font-variant-numeric: tabular-nums; margin: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere; padding: .3rem .6rem;
  text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { font-variant-numeric: tabular-nums; min-width: 3rem; }
.n { text-align: right; }
.failed, .problem, .open, .stale { color: var(--bad); }
.completed, .ok, .closed { color: var(--good); }
.paused, .warning, .half_open { color: var(--warn); }
"""
_WORDS: Final = frozenset(
    {
        *("failed", "problem", "open", "stale", "completed", "ok", "closed"),
        *("paused", "warning", "half_open"),
    }
)


def page(title: str, lead: str, parts: Sequence[str]) -> str:
    """The whole document. Even if a text got through as markup, no script could run."""
    style = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{_text(title)}</title>",
            f"<style>{_STYLE}</style>",
            f"<h1>{_text(title)}</h1>",
            f"<p>{_text(lead)}</p>",
            *parts,
            "</html>",
            "",
        ]
    )


def section(title: str, content: str) -> str:
    return f"<section><h2>{_text(title)}</h2>{content}</section>"


def tiles(values: Mapping[str, int]) -> str:
    """Numbers with their names."""
    shown = (
        f"<div><dt>{_text(name)}</dt><dd>{value:,}</dd></div>" for name, value in values.items()
    )
    return f"<dl>{''.join(shown)}</dl>"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str = "none") -> str:
    """Rows of text and numbers; None is an empty cell."""
    if not rows:
        return f"<p>{_text(empty)}</p>"
    head = "".join(f'<th scope="col">{_text(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    text = "" if value is None else str(value)
    # Only words of ours: what a job says never names a class.
    kind = f' class="{text}"' if text in _WORDS else ""
    return f"<td{kind}>{_text(text)}</td>"


def _text(text: str) -> str:
    return escape(one_line(text, MAX_TEXT))
