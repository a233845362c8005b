"""Where a file store may lie, and how its URL is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.files.disk import LocalDisk
from ferryman.backends.files.location import MOUNTS, Location
from ferryman.backends.files.names import LONGEST, name_of, text_of
from ferryman.errors import BackendRejected
from ferryman.message import Message
from ferryman.queue.open import open_backend

if TYPE_CHECKING:
    from pathlib import Path


class Mounted(LocalDisk):
    """The real disk, said to be of another kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def read(self, path: str, at: int | None = None) -> bytes | None:
        if path == MOUNTS:
            return f"server:/x / {self._kind} rw 0 0\n".encode()
        return super().read(path, at)


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("file:///srv/q", Location("/srv/q")),
        ("file:///srv/q/?durability=relaxed", Location("/srv/q", durable=False)),
        ("file:///srv/a%20b?shared=1", Location("/srv/a b", shared=True)),
        ("file:///srv/q?durability=full&shared=0", Location("/srv/q")),
    ],
)
def test_a_url_is_a_folder_and_its_options(url: str, location: Location) -> None:
    assert Location.parse(url) == location


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file://srv/q", "three slashes"),
        ("file:///", "three slashes"),
        ("file:///srv/q#x", "%23"),
        ("file:///srv/q?color=blue", "unknown option color"),
        ("file:///srv/q?durability=some", "full or relaxed"),
        ("file:///srv/q?shared=yes", "0 or 1"),
    ],
)
def test_a_url_that_names_no_folder_is_refused(url: str, says: str) -> None:
    with pytest.raises(BackendRejected, match=says):
        Location.parse(url)


def test_the_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    open_backend(f"file://{tmp_path}/a/b/c").close()
    assert (tmp_path / "a" / "b" / "c" / ".format.json").exists()


def test_a_folder_of_others_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BackendRejected, match="not empty"):
        open_backend(f"file://{tmp_path}")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(BackendRejected, match="not a folder"):
        open_backend(f"file://{tmp_path}/x")


@pytest.mark.parametrize(
    ("content", "says"), [('{"format": 99}', "upgrade"), ("{", "cannot be read")]
)
def test_another_format_is_refused(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / ".format.json").write_text(content)
    with pytest.raises(BackendRejected, match=says):
        open_backend(f"file://{tmp_path}")


@pytest.mark.parametrize("kind", ["nfs4", "nfs", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_needs_a_word_of_consent(tmp_path: Path, kind: str) -> None:
    with pytest.raises(BackendRejected, match="shared=1"):
        Location(str(tmp_path / "q")).prepare(Mounted(kind))
    assert not (tmp_path / "q").exists()
    Location(str(tmp_path / "q"), shared=True).prepare(Mounted(kind))


def test_a_folder_that_keeps_no_files_is_refused() -> None:
    with pytest.raises(BackendRejected, match="proc"):
        open_backend("file:///proc/ferryman")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("plain-1.x_y", "plain-1.x_y"),
        ("24/7", "24%2F7"),
        ("..", "%2E."),
        (".hidden", "%2Ehidden"),
        ("a b", "a%20b"),
        ("50%", "50%25"),
        ("Straße", "Straße"),
        ("a,b~c", "a%2Cb%7Ec"),
    ],
)
def test_names_are_readable_and_lead_back(text: str, name: str) -> None:
    assert name_of(text) == name
    assert text_of(name) == text


def test_long_names_are_cut_and_stay_different() -> None:
    one, other = name_of("x" * 300 + "1"), name_of("x" * 300 + "2")
    assert one != other
    assert max(len(one.encode()), len(other.encode())) <= LONGEST


def test_two_spellings_of_one_letter_are_two_names() -> None:
    assert name_of("\u00e9") != name_of("e\u0301")


def test_a_name_that_holds_another_id_is_refused_naming_both(tmp_path: Path) -> None:
    store = open_backend(f"file://{tmp_path}?durability=relaxed")
    store.push([Message.of("mail", "send", id="upper")])
    # What a file system that ignores case would do with the id UPPER.
    (tmp_path / "mail" / "pending" / "upper").rename(tmp_path / "mail" / "pending" / "UPPER")
    with pytest.raises(BackendRejected, match=r"'upper'.*'UPPER'"):
        store.push([Message.of("mail", "send", 1, id="UPPER")])
    store.close()
