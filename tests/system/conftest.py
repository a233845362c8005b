"""Fixtures of the system tests."""

from __future__ import annotations

from tests.system.dashboard.fixtures import browser, look

__all__ = ["browser", "look"]
