"""Fails when a source file grows past 400 lines (tests: 500): one noun a file."""

import sys
from pathlib import Path

LIMITS = {"src": 400, "apps": 400, "bench": 400, "chaos": 400, "tests": 500, "scripts": 400}


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    too_long = [
        f"{path.relative_to(root)}: {lines} lines, the limit is {limit}"
        for folder, limit in LIMITS.items()
        for path in sorted((root / folder).rglob("*.py"))
        if (lines := len(path.read_text().splitlines())) > limit
    ]
    sys.stderr.writelines(f"{line}\n" for line in too_long)
    return 1 if too_long else 0


if __name__ == "__main__":
    raise SystemExit(main())
