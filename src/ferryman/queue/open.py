"""From a URL to a backend, importing only the one that is named."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote, urlsplit

from ferryman.clock import SystemClock
from ferryman.errors import BackendRejected, Unsupported

if TYPE_CHECKING:
    from ferryman.clock import Clock
    from ferryman.queue.contract import Backend

# scheme → module with `connect(url, clock)`, and the extra that brings its driver
BACKENDS: dict[str, tuple[str, str | None]] = {
    "memory": ("ferryman.backends.memory", None),
    "sqlite": ("ferryman.backends.sqlite", None),
    "file": ("ferryman.backends.files", None),
    "s3": ("ferryman.backends.s3", "s3"),
    "postgresql": ("ferryman.backends.postgresql", "postgresql"),
    "sqs": ("ferryman.backends.sqs", "sqs"),
}


_SECRET = re.compile("password|secret|token", re.IGNORECASE)

# A password that was not encoded: the / ? or # in it ends what a URL takes for user and password.
_UNENCODED = re.compile(
    r"^([a-z0-9+.-]+://[^:/?#@]*):(?:[^/?#@]*[/#][^?]*|\d*\?[^=]*|(?!\d*\?)[^/?#@]*\?.*)@", re.I
)


def open_backend(url: str, clock: Clock | None = None) -> Backend:
    """The backend that a URL names, such as `sqlite:///jobs.db` or `memory://`."""
    return cast("Backend", _module_of(url).connect(url, clock or SystemClock()))


def schema_of(url: str, version: int = 0) -> str:
    """The SQL that leads a store from `version` (0: nothing) to the present one."""
    module = _module_of(url)
    if not hasattr(module, "schema_of"):
        raise Unsupported(f"{safe_url(url)} needs no SQL: first use makes the store")
    return cast("str", module.schema_of(url, version))


def version_of(url: str) -> int | None:
    """The version of what a store keeps, 0 where it was not made yet; None if it does not tell."""
    asked = getattr(_module_of(url), "version_of", None)
    return None if asked is None else int(asked(url))


def _module_of(url: str) -> Any:
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        # It quotes what it stumbles over, and that may be a password.
        raise BackendRejected(
            f"{safe_url(url)!r} cannot be read: write what is special in user and password in "
            "percent, such as %5B for [; an IPv6 address stands in brackets"
        ) from None
    if scheme not in BACKENDS:
        known = ", ".join(f"{name}://" for name in BACKENDS)
        raise BackendRejected(f"{safe_url(url)!r} names no backend: use one of {known}")
    module, extra = BACKENDS[scheme]
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if extra is None or (missing.name or "").startswith("ferryman"):
            raise
        raise BackendRejected(
            f"{scheme}:// needs the package {missing.name!r}: pip install 'ferryman[{extra}]'"
        ) from missing


def safe_url(url: str) -> str:
    """The URL without passwords, fit for logs and pages."""
    try:
        parts = urlsplit(_UNENCODED.sub(r"\1:***@", url))
    except ValueError:
        # Nobody can say which part of it is the password.
        return f"{url.partition(':')[0]}://***"
    query = "&".join(_safe_option(option) for option in parts.query.split("&"))
    netloc = parts.netloc
    if parts.password is not None:
        netloc = f"{parts.username or ''}:***@{netloc.rpartition('@')[2]}"
    # A # that was not encoded ends a secret too early.
    fragment = parts.fragment if query == parts.query else ""
    safe = parts._replace(netloc=netloc, query=query, fragment=fragment)
    return safe.geturl() if netloc or query else url


def _safe_option(option: str) -> str:
    name, equals, value = option.partition("=")
    # Drivers decode names too: %70assword is a password.
    if equals and _SECRET.search(unquote(name)):
        return f"{name}=***"
    inner = unquote(value)
    # A URL inside a URL, such as a ledger's, has a password of its own.
    shown = safe_url(inner) if "://" in inner else inner
    return option if shown == inner else f"{name}={quote(shown, safe='*')}"
