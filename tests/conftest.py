"""Fixtures that every folder of tests may use."""

from __future__ import annotations

pytest_plugins = ["tests.servers.fixtures", "tests.servers.postgres_fixtures"]
