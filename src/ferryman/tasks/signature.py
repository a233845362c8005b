"""A handler's parameters as a JSON payload, and back.

One parameter besides the job: the payload is its value. Several: an object with their names.
None: null.
"""

from __future__ import annotations

import inspect
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_type_hints

from ferryman.errors import InvalidMessage, TaskError
from ferryman.job import Job
from ferryman.tasks.conversion import Conversion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Signature:
    """How one handler's arguments travel. Annotations are read when first needed."""

    def __init__(self, handler: Callable[..., Any], name: str) -> None:
        self._handler = handler
        self._task = name
        self._whole = inspect.signature(handler)
        for parameter in self._whole.parameters.values():
            if parameter.kind in _VARIADIC:
                raise TaskError(
                    f"task {name!r}: *{parameter.name} cannot travel as JSON; name its parameters"
                )

    def payload(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The payload of a call with these arguments, checked against the annotations."""
        if self._positional == 1 and len(args) == 1 and not kwargs:
            _, place, conversion = self._single
            return conversion.to_json(place, args[0])
        values = self._bound(args, kwargs)
        plain = {
            name: conversion.to_json(f"payload.{name}", values[name])
            for name, conversion in self._conversions.items()
        }
        if len(plain) > 1:
            return plain
        return next(iter(plain.values()), None)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        if not kwargs and len(args) == self._positional:
            # `Signature.bind` takes 5 µs; this is what it would say.
            return dict(zip(self._conversions, args, strict=True))
        try:
            bound = self._pushed.bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidMessage("payload", f"task {self._task!r}: {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def arguments(self, payload: Any, job: Job) -> dict[str, Any]:
        """Keyword arguments for the handler, models rebuilt; `InvalidMessage` if unfit."""
        conversions = self._conversions
        if len(conversions) == 1:
            name, place, conversion = self._single
            arguments = {name: conversion.from_json(place, payload)}
        else:
            arguments = {
                name: conversions[name].from_json(f"payload.{name}", value)
                for name, value in self._by_name(payload).items()
            }
        if self._job_parameter is not None:
            arguments[self._job_parameter] = job
        return arguments

    def check(self, payload: Any) -> None:
        """Refuse a ready-made payload that the handler could not take."""
        for name, value in self._by_name(payload).items():
            self._conversions[name].from_json(f"payload.{name}", value)

    @cached_property
    def arity(self) -> int:
        """How many parameters travel."""
        return len(self._pushed.parameters)

    @property
    def takes(self) -> Mapping[str, Any]:
        """The annotation of each parameter that travels; `Any` where there is none."""
        return {name: self._hints.get(name, Any) for name in self._pushed.parameters}

    @property
    def returns(self) -> Any:
        """The annotation of what the handler returns; `Any` where there is none."""
        return self._hints.get("return", Any)

    def read_result(self, text: str | None) -> Any:
        """A stored result as the handler's return annotation says."""
        value = None if text is None else json.loads(text)
        return value if value is None else self._returned.from_json("result", value)

    def _by_name(self, payload: Any) -> dict[str, Any]:
        names = self._pushed.parameters
        if len(names) == 0:
            return {}
        if len(names) == 1:
            return {next(iter(names)): payload}
        if not isinstance(payload, dict):
            raise InvalidMessage(
                "payload", f"task {self._task!r} wants an object with {', '.join(names)}"
            )
        if unknown := payload.keys() - names.keys():
            raise InvalidMessage(
                f"payload.{min(unknown)}", f"task {self._task!r} has no such parameter"
            )
        for name, parameter in names.items():
            if name not in payload and parameter.default is parameter.empty:
                raise InvalidMessage(f"payload.{name}", f"task {self._task!r} needs it")
        return payload

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self._handler, include_extras=True)
        except NameError as error:
            raise TaskError(f"task {self._task!r}: an annotation cannot be read: {error}") from None

    @cached_property
    def _job_parameter(self) -> str | None:
        for name in self._whole.parameters:
            if self._hints.get(name) is Job or (name == "job" and name not in self._hints):
                return name
        return None

    @cached_property
    def _pushed(self) -> inspect.Signature:
        """The signature as a producer sees it: without the job."""
        kept = [p for name, p in self._whole.parameters.items() if name != self._job_parameter]
        return self._whole.replace(parameters=kept)

    @cached_property
    def _positional(self) -> int:
        """How many arguments a call has that gives all by position; −1 if none can."""
        kinds = {parameter.kind for parameter in self._pushed.parameters.values()}
        return -1 if inspect.Parameter.KEYWORD_ONLY in kinds else self.arity

    @cached_property
    def _conversions(self) -> dict[str, Conversion]:
        return {name: Conversion.of(self._hints.get(name, Any)) for name in self._pushed.parameters}

    @cached_property
    def _single(self) -> tuple[str, str, Conversion]:
        """The only parameter that travels, and its place in messages."""
        ((name, conversion),) = self._conversions.items()
        return name, f"payload.{name}", conversion

    @cached_property
    def _returned(self) -> Conversion:
        return Conversion.of(self._hints.get("return", Any))
