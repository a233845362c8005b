"""Where figures come from: they mean nothing without it."""

from __future__ import annotations

import os
import platform
import sqlite3
import time


def machine(at: float | None = None) -> str:
    """One line: the day (of the moment `at`, else today), cores, Python, SQLite."""
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime(at))}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}"
    )


def load() -> str:
    """How busy the machine is: above its cores, trust only ratios."""
    return f"load {os.getloadavg()[0]:.1f}"
