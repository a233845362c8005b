"""Where a database lies and how it is opened, from its URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ferryman.backends.mounts import mount_type
from ferryman.errors import BackendRejected

MOUNTS: Final = Path("/proc/mounts")

# WAL keeps its index in memory shared by mmap, which only one machine can see.
NETWORK: Final = re.compile(
    r"nfs4?|cifs|smb3|smbfs|afs|ceph|coda|glusterfs|lustre|beegfs|gpfs|ocfs2|gfs2"
    r"|fuse\.(sshfs|s3fs|rclone|glusterfs|ceph|gcsfuse|goofys)"
)


@dataclass(frozen=True, slots=True)
class Location:
    """A database file and its options: `synchronous` is full or normal, `busy_timeout` seconds."""

    path: Path
    synchronous: str = "full"
    busy_timeout: float = 5.0

    @classmethod
    def parse(cls, url: str) -> Location:
        parts = urlsplit(url)
        path = unquote(parts.path)[1:]
        if not path or ":memory:" in url:
            raise BackendRejected(
                f"{url!r} names no file: write sqlite:///jobs.db, or memory:// to keep jobs "
                "in this process only"
            )
        if parts.netloc or parts.fragment:
            raise BackendRejected(
                f"{url!r} is not a path: write sqlite:///relative.db (three slashes) or "
                "sqlite:////absolute/path.db (four), with # as %23"
            )
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        location = cls(
            Path(path).absolute(),
            _synchronous(options.pop("synchronous", "full")),
            _busy_timeout(options.pop("busy_timeout", "5")),
        )
        if options:
            raise BackendRejected(
                f"unknown option {', '.join(options)} in {url!r}: "
                "sqlite:// knows synchronous and busy_timeout"
            )
        return location

    def check(self) -> None:
        """Refuse a place where no database can be kept safely, before anything is made there."""
        folder = self.path.parent
        if not folder.is_dir():
            raise BackendRejected(f"the folder {folder} does not exist: make it first")
        if self.path.is_dir():
            raise BackendRejected(f"{self.path} is a folder: name a file in it")
        if MOUNTS.exists():
            kind = mount_type(folder.resolve(), MOUNTS.read_text(encoding="utf-8", errors="ignore"))
            if NETWORK.fullmatch(kind):
                raise BackendRejected(
                    f"{folder} is on a network file system ({kind}), where SQLite cannot share a "
                    "database safely: use a local folder, or postgresql:// between machines"
                )


def _synchronous(value: str) -> str:
    if value.lower() not in ("full", "normal"):
        raise BackendRejected(
            f"synchronous={value}: use full (survives loss of power) or normal (faster, may lose "
            "the last moments then)"
        )
    return value.lower()


def _busy_timeout(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3_600:
        raise BackendRejected(f"busy_timeout={value}: write seconds from 0 to 3600")
    return seconds
