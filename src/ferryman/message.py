"""What a producer hands over, checked before anything is written."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from ferryman.errors import InvalidMessage
from ferryman.frozen import copier
from ferryman.ids import new_id, new_ids

MAX_BYTES: Final = 8 << 20
MAX_DEPTH: Final = 64
MAX_NAME: Final = 200
MAX_ID: Final = 512
MAX_KEY_BYTES: Final = 1_800
"""A key in UTF-8: with the name of its queue it has to fit into an index of PostgreSQL."""
MAX_META: Final = 16
RUN: Final = "run"
"""The name in a job's `meta` under which it belongs to a run of a pipeline."""
MAX_PRIORITY: Final = 1_000_000_000
MAX_SECONDS: Final = 10 * 366 * 86_400.0
MAX_ATTEMPTS: Final = 1_000_000
BACKOFF: Final = {
    "base": (0.0, MAX_SECONDS),
    "factor": (1.0, 100.0),
    "cap": (0.0, MAX_SECONDS),
    "jitter": (0.0, 1.0),
}
"""The numbers of a backoff's text in their order, each with its least and its most."""

# What a key forbids: a second job while one waits, while one is unfinished, or within a number of
# seconds; `replace` puts the new body into the job that waits.
Unique = Literal["waiting", "unfinished", "replace"] | float


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message, valid by construction. Make one with `Message.of`.

    `body` is the payload as JSON text. `delay` and `expires` are seconds by the store's clock from
    the moment of the push; `ready_at` is a moment (seconds since the epoch) and excludes `delay`.
    `backoff` is a `Backoff` in text form, kept with the job so that a reaper can use it.
    Jobs of different `tenant`s take turns in their queue.
    """

    queue: str
    task: str
    body: str = "null"
    id: str = field(default_factory=new_id)
    version: int = 1
    priority: int = 0
    delay: float = 0.0
    ready_at: float | None = None
    expires: float | None = None
    key: str | None = None
    unique: Unique = "unfinished"
    replace: bool = False
    max_attempts: int = 5
    backoff: str | None = None
    timeout: float | None = None
    correlation_id: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    tenant: str | None = None

    @classmethod
    def of(cls, queue: str, task: str, payload: Any = None, **options: Any) -> Message:
        """Check and encode a payload of plain JSON types; options are the fields by name."""
        return cls(queue=queue, task=task, body=encode(payload), **options)

    @property
    def payload(self) -> Any:
        return decode(self.body)

    def again(self, body: str, message_id: str | None = None) -> Message:
        """The same options with another body (JSON text from `encode`) and a new id.

        The options were checked when this message was made, so they are not checked again.
        """
        if message_id is not None:
            check_name("id", message_id, MAX_ID)
        return _again(self, body, message_id or new_id())

    def again_each(self, bodies: Sequence[str]) -> list[Message]:
        """One for each body, their new ids in the same order."""
        ids = new_ids(len(bodies))
        return [_again(self, body, made) for body, made in zip(bodies, ids, strict=True)]

    def __post_init__(self) -> None:
        check_work(self)
        check_seconds("delay", self.delay)
        if self.ready_at is not None:
            _check_moment(self.ready_at, self.delay)
        if self.expires is not None:
            check_seconds("expires", self.expires, above_zero=True)
        if self.key is not None:
            _check_unique(self.unique)

    def same_work(self, queue: str, task: str, version: int, body: str) -> bool:
        """Whether a job with this id is the same work: queue, task, version and payload agree."""
        return (self.queue, self.task, self.version) == (queue, task, version) and (
            self.body == body or self.payload == decode(body)
        )


_again = copier(Message, "body", "id")


class Work(Protocol):
    """What a message and a job have in common: which work it is, and on what terms."""

    @property
    def queue(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def priority(self) -> int: ...
    @property
    def max_attempts(self) -> int: ...
    @property
    def timeout(self) -> float | None: ...
    @property
    def backoff(self) -> str | None: ...
    @property
    def key(self) -> str | None: ...
    @property
    def correlation_id(self) -> str | None: ...
    @property
    def meta(self) -> Mapping[str, str] | None: ...
    @property
    def tenant(self) -> str | None: ...


def check_work(work: Work) -> None:
    """Refuse what no job may have, wherever it comes from; the payload is not looked at."""
    check_name("queue", work.queue, MAX_NAME)
    check_name("task", work.task, MAX_NAME)
    check_name("id", work.id, MAX_ID)
    check_int("version", work.version, 1, MAX_PRIORITY)
    check_int("priority", work.priority, -MAX_PRIORITY, MAX_PRIORITY)
    check_int("max_attempts", work.max_attempts, 1, MAX_ATTEMPTS)
    if work.timeout is not None:
        check_seconds("timeout", work.timeout, above_zero=True)
    if work.backoff is not None:
        _check_backoff(work.backoff)
    if work.key is not None:
        check_name("key", work.key, MAX_ID)
        if not work.key.isascii() and (size := len(work.key.encode())) > MAX_KEY_BYTES:
            reason = f"is {size} bytes long in UTF-8, the limit is {MAX_KEY_BYTES}"
            raise InvalidMessage("key", reason)
    if work.correlation_id is not None:
        check_name("correlation_id", work.correlation_id, MAX_ID)
    if work.meta:
        _check_meta(work.meta)
    if work.tenant is not None:
        check_name("tenant", work.tenant, MAX_NAME)


def encode(value: Any, field_name: str = "payload") -> str:
    """Plain JSON types as compact JSON text, or `InvalidMessage` that names the place."""
    if type(value) not in _SCALARS and not _is_flat(value):
        _check_plain(value, field_name)
    try:
        text = _to_json(value)
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise InvalidMessage(field_name, "holds a lone surrogate, which is not text") from None
    except ValueError as error:
        _check_plain(value, field_name)
        raise InvalidMessage(field_name, str(error)) from None
    if size > MAX_BYTES:
        raise InvalidMessage(
            field_name,
            f"is {size:,} bytes of JSON, the limit is {MAX_BYTES:,}: "
            "store it elsewhere and push a reference",
        )
    return text


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _to_json(value: Any) -> str:
    return "".join(_chunks(value, 0))


def _make_chunks() -> Callable[[Any, int], Iterable[str]]:
    """The C encoder that `json.dumps` would build anew for each call, built once: 3.4 → 1.6 µs.

    It runs without the check for cycles, which the limit of depth makes superfluous.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # not CPython
        return lambda value, _: _ENCODER.iterencode(value)
    text = json.encoder.encode_basestring
    chunks: Callable[[Any, int], Iterable[str]] = make(
        None, _ENCODER.default, text, None, ":", ",", False, False, False
    )
    return chunks


_chunks = _make_chunks()


def decode(text: str) -> Any:
    """What `encode` made text of. Not for text of others: what follows the value is ignored."""
    return _scan(text)[0]


# `json.loads` looks for white space on both sides, which takes longer than a small payload.
_scan: Final = json.JSONDecoder().raw_decode
_SCALARS: Final = frozenset({str, int, bool, type(None)})
_NUMBERS_TOO: Final = _SCALARS | {float}
_NAMES: Final = frozenset({str})
_FEW: Final = 100


def _check_plain(value: Any, field_name: str) -> None:
    try:
        _Walk(field_name).check(value, 1)
    except _NotPlainError as misfit:
        raise InvalidMessage(field_name + misfit.place, misfit.reason) from None


def _is_flat(value: Any) -> bool:
    """Whether it is an object of scalars, as most payloads are; the encoder refuses what is NaN."""
    return (
        type(value) is dict
        and len(value) <= _FEW
        and _NAMES.issuperset(map(type, value))
        and _NUMBERS_TOO.issuperset(map(type, value.values()))
    )


class _Walk:
    """Looks at every value once, and gives up where the JSON would be too large anyway.

    A list that holds itself twice, forty levels deep, is small in memory and endless as JSON.
    """

    __slots__ = ("_left", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        # An item and its comma take two bytes at least.
        self._left = MAX_BYTES // 2

    def check(self, value: Any, depth: int) -> None:
        """Refuse what is not plain JSON. Scalars are skipped before the call: it is a hot path."""
        if type(value) is float:
            if not math.isfinite(value):
                raise _NotPlainError(f"{value} is not JSON")
        elif isinstance(value, dict):
            self._check_object(value, depth)
        elif isinstance(value, list | tuple):
            self._check_list(value, depth)
        elif not isinstance(value, str | int):
            raise _NotPlainError(f"is a {type(value).__name__}, which is not a plain JSON type")

    def _check_list(self, value: list[Any] | tuple[Any, ...], depth: int) -> None:
        self._enter(value, depth)
        for index, item in enumerate(value):
            if type(item) not in _SCALARS:
                try:
                    self.check(item, depth + 1)
                except _NotPlainError as misfit:
                    raise misfit.inside(f"[{index}]") from None

    def _check_object(self, value: dict[Any, Any], depth: int) -> None:
        self._enter(value, depth)
        for name, item in value.items():
            if type(name) is not str:
                raise _NotPlainError(f"has the key {name!r}; JSON keys are strings")
            if type(item) not in _SCALARS:
                try:
                    self.check(item, depth + 1)
                except _NotPlainError as misfit:
                    raise misfit.inside(f".{name}") from None

    def _enter(self, container: Sized, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InvalidMessage(self._root, f"is nested over {MAX_DEPTH} deep")
        self._left -= len(container)
        if self._left < 0:
            raise InvalidMessage(self._root, f"is over the limit of {MAX_BYTES:,} bytes of JSON")


class _NotPlainError(Exception):
    """Learns its place on the way up: spelling out every place on the way down costs too much."""

    def __init__(self, reason: str, place: str = "") -> None:
        self.reason = reason
        self.place = place

    def inside(self, part: str) -> _NotPlainError:
        return _NotPlainError(self.reason, part + self.place)


def check_name(field_name: str, value: object, limit: int = MAX_NAME) -> None:
    """Refuse what no store could keep: empty, too long, control characters, lone surrogates."""
    if not isinstance(value, str):
        raise InvalidMessage(field_name, f"must be a string, not {type(value).__name__}")
    if not value.strip():
        raise InvalidMessage(field_name, "must not be empty")
    if len(value) > limit:
        raise InvalidMessage(field_name, f"is {len(value)} characters long, the limit is {limit}")
    # isascii + isprintable is one pass in C, and true for nearly every name.
    if not (value.isascii() and value.isprintable()):
        _check_unusual_text(field_name, value)


def check_seconds(field_name: str, value: object, *, above_zero: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidMessage(field_name, f"must be seconds, not {type(value).__name__}")
    if value > MAX_SECONDS:
        raise InvalidMessage(field_name, "is over ten years")
    if not value >= 0 or (above_zero and value == 0):
        least = "above zero" if above_zero else "zero or more"
        raise InvalidMessage(field_name, f"must be {least} seconds, got {value}")


def _check_unusual_text(field_name: str, value: str) -> None:
    for char in value:
        if ord(char) < 32 or 127 <= ord(char) < 160:
            raise InvalidMessage(field_name, f"holds the control character {char!r}")
        if 0xD800 <= ord(char) <= 0xDFFF:
            raise InvalidMessage(field_name, "holds a lone surrogate, which is not text")


def check_int(field_name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidMessage(field_name, f"must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise InvalidMessage(field_name, f"must be from {least} to {most}, got {value}")


def _check_moment(ready_at: object, delay: float) -> None:
    if isinstance(ready_at, bool) or not isinstance(ready_at, int | float):
        raise InvalidMessage("ready_at", f"must be seconds since the epoch, not {ready_at!r}")
    if not 0 <= ready_at < 1e11:
        raise InvalidMessage("ready_at", "is not a moment: give seconds since the epoch")
    if delay:
        raise InvalidMessage("delay", "excludes ready_at: give one of them")


def _check_backoff(text: object) -> None:
    try:
        numbers = [float(part) for part in str(text).split(",")]
    except ValueError:
        numbers = []
    within = [low <= n <= high for n, (low, high) in zip(numbers, BACKOFF.values(), strict=False)]
    if len(numbers) != len(BACKOFF) or not all(within):
        raise InvalidMessage("backoff", f"{text!r} is not the text of a Backoff")


def _check_unique(unique: object) -> None:
    if unique in ("waiting", "unfinished", "replace"):
        return
    if isinstance(unique, str):
        raise InvalidMessage(
            "unique", f"{unique!r}: use waiting, unfinished, replace or a number of seconds"
        )
    check_seconds("unique", unique, above_zero=True)


def _check_meta(meta: object) -> None:
    if not isinstance(meta, Mapping):
        raise InvalidMessage("meta", f"must be an object of strings, not {type(meta).__name__}")
    if len(meta) > MAX_META:
        raise InvalidMessage("meta", f"has {len(meta)} entries, the limit is {MAX_META}")
    for name, value in meta.items():
        check_name("meta", name, 64)
        check_name(f"meta.{name}", value, MAX_ID)
