"""One value between Python and JSON: plain types by a check, all others by pydantic.

pydantic is imported only when an annotation or a value needs it.
"""

from __future__ import annotations

import json
import types
from abc import ABC, abstractmethod
from typing import Any, Union, get_args, get_origin

from ferryman.errors import InvalidMessage
from ferryman.message import encode

_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    dict: (dict,),
    list: (list, tuple),
    None: (type(None),),
    type(None): (type(None),),
}


class Conversion(ABC):
    """How values of one annotation travel."""

    @abstractmethod
    def to_json(self, place: str, value: Any) -> Any:
        """Plain JSON types, or `InvalidMessage` that names the place."""

    @abstractmethod
    def from_json(self, place: str, value: Any) -> Any:
        """The Python value, or `InvalidMessage` that names the place."""

    @staticmethod
    def of(annotation: Any) -> Conversion:
        if annotation in (Any, object):
            return _AsItIs()
        allowed = _plain_types(annotation)
        return _Checked(allowed) if allowed else _Model(annotation)


class _AsItIs(Conversion):
    def to_json(self, place: str, value: Any) -> Any:
        return value

    def from_json(self, place: str, value: Any) -> Any:
        return value


class _Checked(Conversion):
    def __init__(self, allowed: tuple[type, ...]) -> None:
        self._allowed = allowed

    def to_json(self, place: str, value: Any) -> Any:
        if type(value) in self._allowed:
            return value
        # True is an int to Python, and never what a caller of f(count: int) meant.
        misplaced_bool = isinstance(value, bool) and bool not in self._allowed
        if misplaced_bool or not isinstance(value, self._allowed):
            wanted = " or ".join(dict.fromkeys(kind.__name__ for kind in self._allowed))
            raise InvalidMessage(place, f"must be {wanted}, not {type(value).__name__}")
        return value

    from_json = to_json


class _Model(Conversion):
    def __init__(self, annotation: Any) -> None:
        from pydantic import TypeAdapter

        self._adapter: TypeAdapter[Any] = TypeAdapter(annotation)

    def to_json(self, place: str, value: Any) -> Any:
        from pydantic import ValidationError

        try:
            return self._adapter.dump_python(self._adapter.validate_python(value), mode="json")
        except ValidationError as error:
            raise _refusal(place, error) from None

    def from_json(self, place: str, value: Any) -> Any:
        from pydantic import ValidationError

        try:
            # JSON mode, so that strict models still read dates and UUIDs from their text form.
            return self._adapter.validate_json(json.dumps(value))
        except ValidationError as error:
            raise _refusal(place, error) from None


def encode_result(value: Any) -> str | None:
    """A handler's return value as JSON text; models and dataclasses are dumped."""
    if value is None:
        return None
    try:
        return encode(value, "result")
    except InvalidMessage:
        if isinstance(value, str | int | float | bool):
            raise
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        try:
            return encode(to_jsonable_python(value), "result")
        except PydanticSerializationError as error:
            raise InvalidMessage("result", str(error)) from None


def _plain_types(annotation: Any) -> tuple[type, ...]:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [_plain_types(part) for part in get_args(annotation)]
        return sum(parts, ()) if all(parts) else ()
    return ()


def _refusal(place: str, error: Any) -> InvalidMessage:
    first = error.errors(include_url=False, include_input=False)[0]
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return InvalidMessage(f"{place}{where}", f"{first['msg']}{more}")
