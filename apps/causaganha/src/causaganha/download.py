"""A file from the web: whole on disk, or not there at all."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx2

TIMEOUT: Final = 60.0


@dataclass(frozen=True, slots=True)
class Download:
    """A file that is whole on disk."""

    path: Path
    size: int
    sha256: str
    milliseconds: int


def download(
    http: httpx2.Client, url: str, path: Path, check: Callable[[httpx2.Response], object]
) -> Download:
    """Bring what is at `url` to `path`, unless `check` refuses the answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}-{time.monotonic_ns()}.part")
    began = time.monotonic()
    digest = hashlib.sha256()
    try:
        with http.stream("GET", url, timeout=TIMEOUT) as response, part.open("wb") as file:
            check(response)
            for piece in response.iter_bytes():
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return Download(path, size, digest.hexdigest(), round((time.monotonic() - began) * 1000))
