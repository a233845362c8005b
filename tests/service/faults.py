"""A real backend with a capability taken away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ferryman.queue.contract import Backend


class _WithoutCells:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.capabilities = replace(backend.capabilities, cells=False)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._backend, verb)


def without_cells(backend: Backend) -> Backend:
    return cast("Backend", _WithoutCells(backend))
