"""The one filter language: `state:failed queue:mail error:"Timeout" payload.user.id:42 age:>1h`.

Terms are separated by spaces and must all hold; `-` before a term negates it; a comma inside a
value means "one of"; a word without a field looks into id, task, key, correlation id and error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from ferryman.errors import InvalidFilter
from ferryman.job import Job, State

if TYPE_CHECKING:
    from collections.abc import Iterable

Op = Literal["is", "has", ">", ">=", "<", "<="]

EXACT: Final = frozenset(
    {"id", "state", "queue", "task", "worker", "key", "correlation_id", "tenant"}
)
NUMBERS: Final = frozenset({"priority", "attempts", "generation", "version", "fence"})
AGES: Final = frozenset({"age", "finished"})
NAMES: Final = frozenset({"queue", "task", "state"})
KEYS: Final = frozenset({"id", "key", "correlation_id", "meta"})
MAX_TERMS: Final = 32
MAX_LENGTH: Final = 2_000

_VALUE = r'(?:"(?:[^"\\]|\\.)*"|[^\s",]+)'
_TOKEN = re.compile(rf"(-?)(?:([A-Za-z_][\w.\-]*):)?({_VALUE}(?:,{_VALUE})*)(?!\S)")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|([^",]+)')
_COMPARE = re.compile(r"(>=|<=|>|<)(.+)")
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. `values` are alternatives; numbers for `NUMBERS`, seconds for `AGES`."""

    field: str
    op: Op
    values: tuple[str | float, ...]
    negated: bool = False
    path: tuple[str, ...] = ()

    def holds(self, job: Job, now: float) -> bool:
        return self._positive(job, now) is not self.negated

    def _positive(self, job: Job, now: float) -> bool:
        if self.field == "payload":
            return as_text(_dug(job, self.path)) in self.values
        if self.field == "meta":
            return job.meta.get(self.path[0]) in self.values
        if self.field in AGES:
            since = job.created_at if self.field == "age" else job.finished_at
            return since is not None and _compare(self.op, now - since, self.values)
        if self.field in NUMBERS:
            return _compare(self.op, getattr(job, self.field), self.values)
        if self.field == "error":
            return any(str(value).lower() in (job.error or "").lower() for value in self.values)
        if self.field == "text":
            seen = (job.id, job.task, job.key, job.correlation_id, job.error)
            return any(str(v).lower() in (text or "").lower() for v in self.values for text in seen)
        return getattr(job, self.field) in self.values


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter; the empty one matches every job."""

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Filter:
        """Read the filter language, or raise `InvalidFilter` with the place and what is allowed."""
        if len(text) > MAX_LENGTH:
            raise InvalidFilter(f"the filter is {len(text)} characters long, at most {MAX_LENGTH}")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise InvalidFilter("the filter holds a lone surrogate, which is not text")
        terms = tuple(_terms(text))
        if len(terms) > MAX_TERMS:
            raise InvalidFilter(f"the filter has {len(terms)} terms, at most {MAX_TERMS}")
        return cls(terms)

    def matches(self, job: Job, now: float) -> bool:
        return all(term.holds(job, now) for term in self.terms)

    @property
    def by_name(self) -> bool:
        """Whether queue, task and state decide what matches; the empty one asks for none."""
        return bool(self.terms) and all(term.field in NAMES for term in self.terms)

    @property
    def by_key(self) -> bool:
        """Whether it names something that an index has, and that few jobs share as a rule."""
        return any(term.field in KEYS and not term.negated for term in self.terms)


class Line(NamedTuple):
    """Jobs that have the same three names."""

    queue: str
    task: str
    state: str

    def matches(self, query: Filter) -> bool:
        """Whether its jobs match; asked only of filters by nothing but the three names."""
        return query.matches(cast("Job", self), 0.0)


def _terms(text: str) -> Iterable[Term]:
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise InvalidFilter(f"cannot read the filter at {text[position : position + 20]!r}")
        negation, name, raw = match.groups()
        if name is None and raw.endswith(":"):
            raise InvalidFilter(f"{raw} has no value")
        yield _term(name or "text", raw, bool(negation))
        position = match.end()


def _term(name: str, raw: str, negated: bool) -> Term:
    head, *path = name.split(".")
    if head in ("payload", "meta"):
        if not path or not all(path) or (head == "meta" and len(path) > 1):
            raise InvalidFilter(f"{name}: write {head}.<name>:<value>")
        return Term(head, "is", _values(raw), negated, tuple(path))
    if path:
        raise InvalidFilter(f"{name}: only payload and meta have parts")
    if head in AGES or head in NUMBERS:
        return _number_term(head, raw, negated)
    if head in EXACT:
        values = _values(raw)
        if head == "state" and (unknown := set(values) - set(State)):
            raise InvalidFilter(f"state:{', '.join(map(str, unknown))}: use {', '.join(State)}")
        return Term(head, "is", values, negated)
    if head in ("error", "text"):
        return Term(head, "has", _values(raw), negated)
    known = sorted(EXACT | NUMBERS | AGES | {"error", "payload.<path>", "meta.<name>"})
    raise InvalidFilter(f"unknown field {head!r}: use {', '.join(known)}")


def _number_term(head: str, raw: str, negated: bool) -> Term:
    compared = _COMPARE.fullmatch(raw)
    op: Any = compared[1] if compared else "is"
    if head in AGES and op == "is":
        raise InvalidFilter(f"{head}:{raw}: write {head}:>1h or {head}:<30m")
    read = _seconds if head in AGES else _number
    parts = [compared[2]] if compared else [str(value) for value in _values(raw)]
    return Term(head, op, tuple(read(head, part) for part in parts), negated)


def _values(raw: str) -> tuple[str, ...]:
    values = tuple(
        re.sub(r"\\(.)", r"\1", quoted) if quoted or not bare else bare
        for quoted, bare in _PART.findall(raw)
    )
    if not values:
        raise InvalidFilter(f"{raw!r} has no value")
    return values


def _number(head: str, text: str) -> float:
    try:
        return float(int(text))
    except (ValueError, OverflowError):
        raise InvalidFilter(f"{head}:{text}: must be a whole number") from None


def _seconds(head: str, text: str) -> float:
    if match := re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw]?)", text):
        return float(match[1]) * _UNITS[match[2] or "s"]
    raise InvalidFilter(f"{head}:{text}: write a number with s, m, h, d or w")


def _compare(op: Op, have: float, values: tuple[str | float, ...]) -> bool:
    wanted = values[0]
    if not isinstance(wanted, float):
        return False
    match op:
        case ">":
            return have > wanted
        case ">=":
            return have >= wanted
        case "<":
            return have < wanted
        case "<=":
            return have <= wanted
        case _:
            return have in values


def _dug(job: Job, path: tuple[str, ...]) -> Any:
    try:
        return dig(job.payload, path)
    except (ValueError, RecursionError):
        return None  # another program put it there, and nobody can read it


def dig(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of names and list indexes; None where it leads nowhere."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def as_text(value: Any) -> str | None:
    """How a payload value compares: strings as they are, the rest as JSON; objects never match."""
    if isinstance(value, str):
        return value
    return None if value is None or isinstance(value, dict | list) else json.dumps(value)
