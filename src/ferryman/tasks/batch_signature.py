"""The parameters of a handler that takes several jobs in one call: each is a list."""

from __future__ import annotations

from functools import cached_property
from typing import Any, get_args, get_origin

from ferryman.errors import TaskError
from ferryman.tasks.signature import Signature


class BatchSignature(Signature):
    """Reads `list[X]` as X: a job has one of what its handler gets many of, and so has a result."""

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return {name: self._element(name, hint) for name, hint in super()._hints.items()}

    def _element(self, name: str, hint: Any) -> Any:
        if get_origin(hint) is list:
            return get_args(hint)[0]
        if hint is list or (name == "return" and hint in (None, type(None), Any)):
            return Any
        what = "what it returns" if name == "return" else f"its parameter {name}"
        raise TaskError(
            f"task {self._task!r} takes its jobs in batches, so {what} must be a list, not {hint}"
        )
