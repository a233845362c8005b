"""Whether what one stage returns can be what the next one takes, as far as annotations tell.

Only certain misfits are refused: values are checked again when they are handed over.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from typing import Annotated, Any, Final, Union, get_args, get_origin

from ferryman.outcomes import Outcome

_LISTS: Final = (list, tuple, set, frozenset, Sequence, Iterable)
_YIELDING: Final = (Iterator, Generator, AsyncIterator, AsyncGenerator, AsyncIterable)


def takes_a_list(annotation: Any) -> bool:
    """Whether a stage wants a list as it is, and not a job for each of its items."""
    return any(_origin(part) in _LISTS for part in _parts(annotation))


def fits(returned: Any, taken: Any) -> bool:
    """Whether a stage that returns the one can be followed by a stage that takes the other."""
    found = [each for part in _parts(returned) for each in _handed_over(part, taken)]
    return not found or any(_may_be(one, other) for one in found for other in _parts(taken))


def item_fits(returned: Any, taken: Any) -> bool:
    """The same for a stage that collects: `taken` is a list of what is returned."""
    lists = [part for part in _parts(taken) if _origin(part) in _LISTS]
    if not lists:
        return any(part in (Any, object) for part in _parts(taken))
    items = [get_args(part)[0] for part in lists if get_args(part)]
    found = _parts(returned)
    return (
        not items
        or not found
        or any(_may_be(one, other) for one in found for item in items for other in _parts(item))
    )


def _handed_over(returned: Any, taken: Any) -> Sequence[Any]:
    """What one child gets of it."""
    origin = _origin(returned)
    if origin in _YIELDING or (origin in _LISTS and not takes_a_list(taken)):
        items = get_args(returned)
        return _parts(items[0]) if items else [Any]
    return [returned]


def _parts(annotation: Any) -> list[Any]:
    """The alternatives of an annotation, without None and what ends a job otherwise."""
    if get_origin(annotation) is Annotated:
        return _parts(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [part for each in get_args(annotation) for part in _parts(each)]
    if annotation in (None, type(None)):
        return []
    if isinstance(annotation, type) and issubclass(annotation, Outcome):
        return []
    return [annotation]


def _origin(annotation: Any) -> Any:
    return get_origin(annotation) or annotation


def _unknown(annotation: Any) -> bool:
    return not isinstance(_origin(annotation), type) or _origin(annotation) is object


def _may_be(returned: Any, taken: Any) -> bool:
    if _unknown(returned) or _unknown(taken):
        return True
    one, other = _origin(returned), _origin(taken)
    if issubclass(one, other) and not (one is bool and other is not bool):
        return True
    kinds = _kind(one), _kind(other)
    if None in kinds:
        return True
    if kinds == ("object", "object"):
        # A plain object may hold what a model wants, and a model is handed over as an object.
        return dict in (one, other)
    return kinds[0] == kinds[1] and not (one is float and other is int)


def _kind(cls: type) -> str | None:
    """What a value of this class is in JSON; None where only pydantic knows."""
    if cls is bool:
        return "bool"
    if cls is str:
        return "text"
    if cls in (int, float):
        return "number"
    if issubclass(cls, dict) or dataclasses.is_dataclass(cls) or hasattr(cls, "model_fields"):
        return "object"
    return "list" if cls in _LISTS else None
