"""Which processes there are."""

from __future__ import annotations

from pathlib import Path

from ferryman.testing import wait_until


def alive(pid: int) -> bool:
    """Whether any of its threads runs; one that only waits to be reaped is dead."""
    try:
        stats = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    except (FileNotFoundError, ProcessLookupError):
        return alive(pid)
    return any(stat.rpartition(")")[2].split()[0] not in "ZX" for stat in stats)


def pids(path: Path) -> list[int]:
    """Those that a handler wrote down, as soon as it did."""
    wait_until(path.exists, timeout=20, what=f"{path.name}, which the handler writes")
    return [int(pid) for pid in path.read_text().split()]
