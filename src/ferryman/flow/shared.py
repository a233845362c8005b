"""One JSON document that every process of a store sees and changes, whole or not at all."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from ferryman.errors import Unsupported
from ferryman.queue.cell import read_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.queue.answers import Cell
    from ferryman.queue.contract import Backend

R = TypeVar("R")
Document = dict[str, Any]

_LONGEST_PAUSE: Final = 0.05


class Value(Protocol):
    """A document that is read and changed. `{}` stands for one that does not exist yet."""

    def read(self) -> Document: ...

    def change(self, step: Callable[[Document], tuple[Document | None, R]]) -> R:
        """Replace the document by what `step` makes of it (None: leave it); its second answer.

        `step` may be called again when another process was quicker, so it only computes.
        """
        ...

    def delete(self) -> None: ...

    def check(self) -> None:
        """`Unsupported` where there is no place for it."""
        ...


class Shared:
    """A `Value` in a cell of the store; `way_out` is what to do about a store without cells.

    It is forgotten `ttl` seconds after its last change; None is never.
    """

    def __init__(
        self, store: Callable[[], Backend], key: str, way_out: str, *, ttl: float | None = None
    ) -> None:
        self._store = store
        self._key = key
        self._way_out = way_out
        self._ttl = ttl

    def read(self) -> Document:
        return _document(self._cell())

    def change(self, step: Callable[[Document], tuple[Document | None, R]]) -> R:
        backend = self._checked()
        pause = 0.001
        while True:
            cell = self._cell()
            after, answer = step(_document(cell))
            if after is None:
                return answer
            text = json.dumps(after, separators=(",", ":"))
            expect = 0 if cell is None else cell.version
            if backend.write_cell(self._key, text, expect=expect, ttl=self._ttl) is not None:
                return answer
            # Somebody got ahead, so there is progress; by chance we do not meet again.
            time.sleep(random.uniform(0, pause))  # noqa: S311
            pause = min(pause * 2, _LONGEST_PAUSE)

    def delete(self) -> None:
        self._checked().write_cell(self._key, None, expect=None)

    def check(self) -> None:
        self._checked()

    def _checked(self) -> Backend:
        backend = self._store()
        if not backend.capabilities.cells:
            kind, _, name = self._key.partition("/")
            raise Unsupported(
                f"{backend.capabilities.backend} has no cells, in which workers could share the "
                f"{kind} {name!r}: {self._way_out}"
            )
        return backend

    def _cell(self) -> Cell | None:
        return read_cell(self._checked(), self._key)


class Local:
    """A `Value` of this process alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._document: Document = {}

    def read(self) -> Document:
        return self._document

    def change(self, step: Callable[[Document], tuple[Document | None, R]]) -> R:
        with self._lock:
            after, answer = step(self._document)
            if after is not None:
                self._document = after
            return answer

    def delete(self) -> None:
        with self._lock:
            self._document = {}

    def check(self) -> None:
        pass


def _document(cell: Cell | None) -> Document:
    return {} if cell is None else read_document(cell.value)


def read_document(text: str) -> Document:
    """What a cell holds; text that is no document counts as none, and is overwritten."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
