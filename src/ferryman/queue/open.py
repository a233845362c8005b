"""From a URL to a backend, importing only the one that is named."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend

# scheme → module with `connect(url, clock)`, and the extra that brings its driver
BACKENDS: dict[str, tuple[str, str | None]] = {
    "memory": ("ferryman.backends.memory", None),
    "sqlite": ("ferryman.backends.sqlite", None),
    "file": ("ferryman.backends.files", None),
    "s3": ("ferryman.backends.s3", "s3"),
}


_SECRETS = re.compile(r"((?:^|&)[^=&]*(?:password|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)


def open_backend(url: str, clock: Clock | None = None) -> Backend:
    """The backend that a URL names, such as `sqlite:///jobs.db` or `memory://`."""
    scheme = urlsplit(url).scheme
    if scheme not in BACKENDS:
        known = ", ".join(f"{name}://" for name in BACKENDS)
        raise BackendRejected(f"{safe_url(url)!r} names no backend: use one of {known}")
    module, extra = BACKENDS[scheme]
    try:
        connect = import_module(module).connect
    except ModuleNotFoundError as missing:
        if extra is None or (missing.name or "").startswith("ferryman"):
            raise
        raise BackendRejected(
            f"{scheme}:// needs the package {missing.name!r}: pip install 'ferryman[{extra}]'"
        ) from missing
    return cast("Backend", connect(url, clock or SystemClock()))


def safe_url(url: str) -> str:
    """The URL without passwords, fit for logs and pages."""
    parts = urlsplit(url)
    query = _SECRETS.sub(r"\1***", parts.query)
    netloc = parts.netloc
    if parts.password is not None:
        netloc = f"{parts.username or ''}:***@{netloc.rpartition('@')[2]}"
    return parts._replace(netloc=netloc, query=query).geturl() if netloc or query else url
