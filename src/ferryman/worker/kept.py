"""What a job keeps for its next attempt: a checkpoint, and the steps that are done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from ferryman.message import MAX_NAME, check_name, encode
from ferryman.tasks.conversion import Conversion, encode_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STEPS: Final = "$steps"
_VALUE: Final = "$checkpoint"


@dataclass(frozen=True, slots=True)
class Kept:
    """The checkpoint is stored as it is until there are steps, then beside them."""

    value: Any = None
    steps: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> Kept:
        stored = None if text is None else json.loads(text)
        if isinstance(stored, dict) and _STEPS in stored:
            return cls(stored.get(_VALUE), stored[_STEPS])
        return cls(stored)

    def text(self) -> str:
        plain = not self.steps and not (isinstance(self.value, dict) and _STEPS in self.value)
        return encode(
            self.value if plain else {_STEPS: self.steps, _VALUE: self.value}, "checkpoint"
        )

    def with_value(self, value: Any) -> Kept:
        encode(value, "checkpoint")
        return replace(self, value=value)

    def with_step(self, name: str, result: Any) -> Kept:
        check_name("step", name, MAX_NAME)
        return replace(
            self, steps={**self.steps, name: json.loads(encode_result(result) or "null")}
        )

    def step(self, name: str, work: Callable[..., Any]) -> Any:
        """What a step came to, the same in the attempt that did it and in all later ones."""
        value = self.steps[name]
        returned = _returned(work)
        return (
            value if value is None else Conversion.of(returned).from_json(f"step {name!r}", value)
        )


def _returned(work: Callable[..., Any]) -> Any:
    try:
        return get_type_hints(work).get("return", Any)
    except (NameError, TypeError):  # a partial or a callable object has no annotations to read
        return Any
