"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import signal

from hypothesis import settings

# A shell starts what runs in its background deaf to Ctrl-C, and the commands under test inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["tests.servers.fixtures", "tests.servers.postgres_fixtures"]

# A busy machine makes any example slow, and no test here is about how long one takes. The same
# examples each time: a change is judged by what it did, new ones are for `make explore`.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False)
settings.load_profile("same")
