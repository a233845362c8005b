"""A browser for the tests of the dashboard: others do without."""

from __future__ import annotations

from tests.system.dashboard.fixtures import browser, look

__all__ = ["browser", "look"]
