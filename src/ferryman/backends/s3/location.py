"""Where queues lie in a bucket and how it is reached, from the URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ferryman.backends.files.names import name_of
from ferryman.errors import BackendRejected

# A key has 1,024 bytes, and campaign, queue and id take up to 200 each.
LONGEST_PREFIX: Final = 200

_OPTIONS: Final = ("root", "campaign", "consistency", "endpoint", "region")
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX: Final = re.compile(r"[A-Za-z0-9!_.*'()~-]+(/[A-Za-z0-9!_.*'()~-]+)*")
_REGION: Final = re.compile(r"[A-Za-z0-9-]{1,40}")
_FORM: Final = "s3://bucket/prefix?root=/var/lib/queues&campaign=name"


class Consistency(StrEnum):
    """`strict`: every claim is decided by the bucket. `relaxed`: claims are local, then synced."""

    STRICT = "strict"
    RELAXED = "relaxed"


@dataclass(frozen=True, slots=True)
class Location:
    """A bucket, the prefix below which everything lies, and the options of the URL.

    `root` is the folder of local files. `endpoint`, `region` and credentials that are not given
    come from the usual AWS settings (environment, profile, role); credentials never from the URL.
    """

    bucket: str
    prefix: str = ""
    root: Path | None = None
    campaign: str | None = None
    consistency: Consistency = Consistency.STRICT
    endpoint: str | None = None
    region: str | None = None

    @classmethod
    def parse(cls, url: str) -> Location:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise BackendRejected(
                "credentials do not belong in an s3:// URL, which ends up in logs: put them in "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role"
            )
        if parts.fragment:
            raise BackendRejected(f"an s3:// URL has no fragment: write # as %23, as in {_FORM}")
        options = _options(parts.query)
        location = cls(
            _bucket(parts.netloc),
            _prefix(unquote(parts.path)),
            _root(options.get("root")),
            _campaign(options.get("campaign")),
            _consistency(options.get("consistency", Consistency.STRICT)),
            _endpoint(options.get("endpoint")),
            _region(options.get("region")),
        )
        if location.consistency is Consistency.RELAXED and location.root is None:
            raise BackendRejected(
                "consistency=relaxed claims jobs in local files: add root=/var/lib/queues, a "
                "folder of this machine"
            )
        return location

    @property
    def top(self) -> str:
        """What every key begins with: empty, or ending in a slash."""
        return f"{self.prefix}/" if self.prefix else ""

    @property
    def queues(self) -> str:
        """What the keys of all queues begin with: empty, or ending in a slash."""
        if self.campaign is None:
            return self.top
        return f"{self.top}campaigns/{name_of(self.campaign)}/queues/"

    def queue(self, queue: str) -> str:
        """What the keys of one queue begin with, ending in a slash."""
        return f"{self.queues}{name_of(queue)}/"

    def aside(self, name: str) -> str:
        """A place for what belongs to no queue: a leading dot can be no queue's name."""
        return f"{self.queues}.{name}/"


def _options(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    # Only names are shown: the value of an option that we do not know may be a secret.
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise BackendRejected(
            f"unknown option {', '.join(unknown)}: s3:// knows {', '.join(_OPTIONS)}; credentials "
            "come from the AWS settings (environment, profile, role)"
        )
    if len(options) != len(pairs):
        raise BackendRejected("an option stands twice in the s3:// URL: leave one")
    return options


def _bucket(name: str) -> str:
    if not _BUCKET.fullmatch(name) or ".." in name:
        raise BackendRejected(
            f"{name!r} is no bucket: 3 to 63 small letters, digits, dots and hyphens, as in {_FORM}"
        )
    return name


def _prefix(path: str) -> str:
    prefix = path.strip("/")
    if not prefix:
        return ""
    parts = prefix.split("/")
    fits = _PREFIX.fullmatch(prefix) and len(prefix) <= LONGEST_PREFIX
    if not fits or any(part.startswith(".") for part in parts):
        raise BackendRejected(
            f"{prefix!r} is no prefix: up to {LONGEST_PREFIX} letters, digits and !_.*'()~- "
            "between single slashes, no part with a dot first"
        )
    return prefix


def _root(value: str | None) -> Path | None:
    if value is None:
        return None
    root = Path(value)
    if not root.is_absolute():
        raise BackendRejected(f"root={value}: write an absolute path, such as /var/lib/queues")
    return root


def _campaign(value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise BackendRejected("campaign is empty: name one, or leave the option out")
    return value


def _consistency(value: str) -> Consistency:
    try:
        return Consistency(value.lower())
    except ValueError:
        raise BackendRejected(
            f"consistency={value}: use strict (the bucket decides who gets a job) or relaxed "
            "(works offline, a job may run twice)"
        ) from None


def _endpoint(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise BackendRejected(
            "endpoint: write https://host or http://host:port, without user and password"
        )
    if parts.query or parts.fragment:
        raise BackendRejected("endpoint: write https://host or http://host:port and nothing more")
    return value.rstrip("/")


def _region(value: str | None) -> str | None:
    if value is not None and not _REGION.fullmatch(value):
        raise BackendRejected(f"region={value}: write a name such as eu-central-1")
    return value
