"""Writes the table of routes and roles into docs/access.md, from the rules of the server."""

from __future__ import annotations

from pathlib import Path

from ferryman.web.access.rules import RULES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "access.md"
START = "<!-- rules: python scripts/rules.py -->\n"
END = "<!-- end of rules -->"


def table() -> str:
    """One row for each route."""
    rows = ["| route | role | confined keys | in the audit log |", "|---|---|---|---|"]
    for route, rule in RULES.items():
        role = "everybody" if rule.role is None else str(rule.role)
        act = f"`{rule.act}`" if rule.act else ""
        rows.append(f"| `{route}` | {role} | {'yes' if rule.confined else ''} | {act} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(before + START + table() + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
