"""Fixtures that every folder of tests may use."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["tests.servers.fixtures", "tests.servers.postgres_fixtures"]

# A busy machine makes any example slow, and no test here is about how long one takes.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
