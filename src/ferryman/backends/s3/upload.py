"""A job that people put into the local tree enters the bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.s3.entry import enter
from ferryman.backends.s3.sight import Sight, see

if TYPE_CHECKING:
    from ferryman.backends.files.place import Held
    from ferryman.backends.s3.node import Node


def upload(node: Node, place: Held, sight: Sight) -> Sight | None:
    """Let a job that lies only here enter the bucket; None if its id is taken there."""
    row = sight.row
    entered = enter(node, row, keep=False)
    if isinstance(entered, Sight):
        node.mirror.write(place, entered)
        return entered
    found = see(node, row.queue, place.name)
    if found is None or found.gone or found.row.body != row.body:
        node.desk.adoption.set_aside(place, f"the job {row.id!r} is in the bucket already")
        return None
    node.mirror.write(place, found)
    return found
