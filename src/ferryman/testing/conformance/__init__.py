"""The suite that certifies a backend. Subclass `Conformance` and give it an address:

    class TestOurs(Conformance):
        @pytest.fixture
        def url(self, tmp_path: Path) -> str:
            return f"ours://{tmp_path}"

Every case starts on an empty store. A case is skipped only for a capability that the backend says
it lacks. Stores that are durable also override `outage`, those with transactions `connection`.
"""

from __future__ import annotations

from pkgutil import iter_modules

import pytest

# Plain `assert` explains itself only in modules that pytest rewrites, and these are no test files.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))

from ferryman.testing.conformance.suite import Conformance  # noqa: E402

__all__ = ["Conformance"]
