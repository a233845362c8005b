"""Where a store lies and how it is opened, from its URL."""

from __future__ import annotations

import errno
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from ferryman.backends.files.ground import make_root_folder
from ferryman.backends.files.layout import FORMAT, Layout
from ferryman.backends.mounts import mount_type
from ferryman.errors import BackendRejected
from ferryman.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.files.disk import Disk

MOUNTS: Final = "/proc/mounts"
NETWORK: Final = re.compile(
    r"nfs4?|cifs|smb3|smbfs|afs|ceph|coda|glusterfs|lustre|beegfs|gpfs|ocfs2|gfs2|9p|virtiofs"
    r"|vboxsf|fuse(\..*)?"
)
_UNFIT: Final = re.compile(
    r"proc|sysfs|cgroup2?|devpts|debugfs|tracefs|securityfs|squashfs|iso9660"
)


@dataclass(frozen=True, slots=True)
class Location:
    """A folder and its options; `shared` is for folders that several machines see."""

    root: str
    durable: bool = True
    shared: bool = False

    @classmethod
    def parse(cls, url: str) -> Location:
        parts = urlsplit(url)
        root = unquote(parts.path).rstrip("/")
        if parts.netloc or parts.fragment or not root.startswith("/"):
            raise BackendRejected(
                f"{url!r} is not a folder's path: write file:///srv/queues (three slashes), "
                "with # as %23"
            )
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        location = cls(
            root,
            _choice(options, "durability", {"full": True, "relaxed": False}, "full"),
            _choice(options, "shared", {"0": False, "1": True}, "0"),
        )
        if options:
            raise BackendRejected(
                f"unknown option {', '.join(options)} in {url!r}: file:// knows durability and "
                "shared"
            )
        return location

    def file_system(self, disk: Disk) -> str:
        """The type of the file system below the root, such as ext4; empty if unknown."""
        mounts = (disk.read(MOUNTS) or b"").decode(errors="ignore")
        return mount_type(self.root, mounts)

    def is_new(self, disk: Disk) -> bool:
        """Whether nothing is at the root, or an empty folder."""
        names = disk.names(self.root)
        return not disk.exists(self.root) if names is None else not _others(names)

    def prepare(self, disk: Disk) -> None:
        """Make the root if it is new; refuse what is not ours or cannot be used safely."""
        kind = self.file_system(disk)
        if _UNFIT.fullmatch(kind):
            raise BackendRejected(f"{self.root} is on {kind}, which keeps no files: choose a disk")
        if NETWORK.fullmatch(kind) and not self.shared:
            raise BackendRejected(
                f"{self.root} is on a file system that other machines may see ({kind}): use a "
                "local folder, or add ?shared=1 after reading what that proves and what not"
            )
        layout = Layout(self.root)
        _make(disk, self.root)
        content = disk.read(layout.format)
        if content is None:
            # Whoever made the root may have died before its name was durable.
            disk.sync_folder(self.root.rpartition("/")[0] or "/")
            _start(disk, layout)
        else:
            _check_format(self.root, content)
        _make_all(disk, layout)


def _make(disk: Disk, root: str) -> None:
    """Make the root and the folders above it."""
    parent = root.rpartition("/")[0]
    if parent and not disk.exists(root):
        _make(disk, parent)
    if root and not disk.exists(root):
        disk.make_folder(root)
        disk.sync_folder(parent or "/")
    found = disk.look(root)
    if found is None or (not found.folder and disk.names(root) is None):
        raise BackendRejected(f"{root} is not a folder: name one, or a path where one can be made")


def _start(disk: Disk, layout: Layout) -> None:
    """Mark a new root as ours. Two processes may do so at once: the content is the same."""
    others = _others(disk.names(layout.root) or ())
    if others:
        if disk.exists(layout.format):
            return
        raise BackendRejected(
            f"{layout.root} is not empty and was not made by ferryman (it holds {others[0]!r}): "
            "choose a new or empty folder"
        )
    disk.make_folder(layout.tmp)
    tmp = f"{layout.tmp}/format-{new_id()}"
    text = json.dumps({"ferryman": "queues", "format": FORMAT}, indent=2) + "\n"
    disk.create(tmp, text.encode(), sync=True)
    disk.rename(tmp, layout.format)
    disk.sync_folder(layout.root)


def _make_all(disk: Disk, layout: Layout) -> None:
    try:
        made = [make_root_folder(disk, layout, folder) for folder in layout.all()]
        if any(made):
            disk.sync_folder(layout.root)
    except OSError as error:
        # Whoever only reads needs none of them; whoever writes will hear of it.
        if error.errno != errno.EROFS:
            raise


def _others(names: Sequence[str]) -> list[str]:
    """What lies in a root beside the folder in which a start was made."""
    return [name for name in names if name != ".tmp"]


def _check_format(root: str, content: bytes) -> None:
    try:
        version = json.loads(content)["format"]
    except (ValueError, KeyError, TypeError):
        version = None
    if type(version) is not int:
        raise BackendRejected(f"{root}/.format.json cannot be read: restore it from a backup")
    if version > FORMAT:
        raise BackendRejected(
            f"{root} has format {version}, this ferryman knows {FORMAT}: upgrade ferryman"
        )


def _choice(options: dict[str, str], name: str, choices: dict[str, bool], default: str) -> bool:
    value = options.pop(name, default)
    if value not in choices:
        raise BackendRejected(f"{name}={value}: use {' or '.join(choices)}")
    return choices[value]
