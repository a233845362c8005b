"""Limits are tested on each backend that lives in one process or one file, as workers are."""

from __future__ import annotations

from tests.worker.conftest import ferry, url, work

__all__ = ["ferry", "url", "work"]
