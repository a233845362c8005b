"""`ferryman.json`: says that queues lie here, and in which format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ferryman.backends.s3.answers import Lost
from ferryman.backends.s3.home import FORMAT
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.ids import new_id

if TYPE_CHECKING:
    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node


class Mark:
    """The store's mark. Reading a new store leaves it unmarked; the first writer makes the mark."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._key = node.home.format
        self._seen = False

    def check(self) -> None:
        """Ask the bucket for it: an outage never looks like an empty queue."""
        found = self._node.bucket.get(self._key)
        if found is not None:
            self._accept(found)
        elif self._seen:
            raise BackendUnavailable(
                f"{self._where} is gone: was the bucket emptied? Restore it, or open the store anew"
            )

    def make(self) -> None:
        """Mark a store that is new, before anything else is written."""
        if self._seen:
            return
        facts = {"ferryman": "queues", "format": FORMAT, "nonce": new_id()}
        body = json.dumps(facts, indent=2).encode() + b"\n"
        written = self._node.bucket.put_new(self._key, body)
        if isinstance(written, Lost):
            if written.found is not None:
                self._accept(written.found)
            return
        self._seen = True
        # The store was empty a moment ago: there is nothing to look at before a claim.
        self._node.sync.know_all()

    def _accept(self, found: Object) -> None:
        if self._seen:
            return
        try:
            version = json.loads(found.body)["format"]
        except (ValueError, KeyError, TypeError):
            version = None
        if type(version) is not int:
            raise BackendRejected(
                f"{self._where} cannot be read: restore it, or use another prefix"
            )
        if version > FORMAT:
            raise BackendRejected(
                f"{self._where} has format {version}, this ferryman knows {FORMAT}: "
                "upgrade ferryman"
            )
        self._seen = True

    @property
    def made(self) -> bool:
        """Whether it was seen."""
        return self._seen

    @property
    def _where(self) -> str:
        return f"s3://{self._node.bucket.name}/{self._key}"
