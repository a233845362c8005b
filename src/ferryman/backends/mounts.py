"""Which file system a folder lies on."""

from __future__ import annotations

import re
from pathlib import PurePath, PurePosixPath


def mount_type(folder: str | PurePath, mounts: str) -> str:
    """The file system type of the mount that holds a folder, from the text of /proc/mounts."""
    place = PurePosixPath(folder)
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = PurePosixPath(
            re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[1])
        )
        # Later lines are mounted over earlier ones.
        if place.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind
