"""A job that was replaced by one in another queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.backends.files.names import name_of
from ferryman.backends.s3.entry import enter_text

if TYPE_CHECKING:
    from ferryman.backends.s3.node import Node
    from ferryman.backends.s3.sight import Sight


def move(node: Node, sight: Sight) -> None:
    """Let the task enter its new queue, as its hold decided; repeatable.

    The old task goes after that: at every moment one of them is there.
    """
    if sight.moved is not None:
        enter_text(node, sight.moved["queue"], name_of(sight.row.id), sight.moved["task"].encode())
