"""The texts of `task.json`, `history.json` and finished records, and back.

Written line by line: one field a line, so that people can read, grep and edit them. The standard
library's indenting encoder is written in Python and ten times slower.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, overload

from ferryman.backends.files.moments import moment_of, text_of
from ferryman.backends.files.row import Row
from ferryman.errors import InvalidMessage
from ferryman.job import TERMINAL, JobError, LogLine, State
from ferryman.message import Message, check_work, encode
from ferryman.queue.arrival import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INLINE: Final = 200
"""Payloads and results up to this many characters stand on one line."""

_encoder: Final = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": "))
_encode: Final = _encoder.encode
_decoder: Final = json.JSONDecoder()
_strict: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
)


def _make_compact() -> Callable[[Any], str]:
    """`_strict.encode`, without building the C encoder anew for each call: twice as quick."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # not CPython
        return _strict.encode
    chunks = make(None, _strict.default, quoted, None, ":", ",", False, False, False)
    return lambda value: "".join(chunks(value, 0))


_compact: Final = _make_compact()


class Unreadable(ValueError):
    """A file does not hold what it should; the text says what people should know."""


_MISFITS: Final = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""What reading a field of another type than ours may end in."""


def task_text(row: Row) -> bytes:
    """What `push` writes and people may edit."""
    return f'{{\n{_work(row)},\n  "payload": {_spread(row.body)}\n}}\n'.encode()


def history_text(row: Row) -> bytes:
    """What happened to an unfinished job between its claims."""
    paused = '  "paused": true,\n' if row.state is State.PAUSED else ""
    revision = f'  "revision": {row.revision},\n' if row.revision else ""
    told = row.told_ready_at
    due = "" if told is None else f'  "task_ready_at": "{text_of(told)}",\n'
    return (
        f'{{\n  "id": {quoted(row.id)},\n  "created_at": "{text_of(row.created_at)}",\n'
        f'  "seq": {row.seq},\n  "ready_at": "{text_of(row.ready_at)}",\n'
        f"{due}{paused}{revision}{_past(row)}\n}}\n"
    ).encode()


def record_text(row: Row, *, handed_off: bool = False) -> bytes:
    """Everything about a finished job, in one file."""
    parts = [f'{{\n{_work(row)},\n  "state": "{row.state}",\n  "worker": {_json(row.worker)}']
    if row.finished_at is not None:
        parts.append(f'  "finished_at": "{text_of(row.finished_at)}"')
    parts.append(_past(row))
    if row.children:
        children = ",\n    ".join(_json(_message_facts(child)) for child in row.children)
        parts.append(f'  "handed_off": {_json(handed_off)},\n  "children": [\n    {children}\n  ]')
    parts.append(f'  "payload": {_spread(row.body)}')
    if row.result is not None:
        parts.append(f'  "result": {_spread(row.result)}')
    return (",\n".join(parts) + "\n}\n").encode()


def _work(row: Row) -> str:
    """The fields of a message."""
    text = (
        f'  "id": {quoted(row.id)},\n  "queue": {quoted(row.queue)},\n'
        f'  "task": {quoted(row.task)},\n  "version": {row.version},\n'
        f'  "priority": {row.priority},\n  "max_attempts": {row.max_attempts},\n'
        f'  "created_at": "{text_of(row.created_at)}",\n'
        f'  "ready_at": "{text_of(row.ready_at)}",\n  "seq": {row.seq}'
    )
    if row.deadline is not None:
        text += f',\n  "deadline": "{text_of(row.deadline)}"'
    if row.key is not None:
        text += f',\n  "key": {quoted(row.key)}'
    if row.backoff is not None:
        text += f',\n  "backoff": {_json(row.backoff)}'
    if row.timeout is not None:
        text += f',\n  "timeout": {_json(row.timeout)}'
    if row.correlation_id is not None:
        text += f',\n  "correlation_id": {_json(row.correlation_id)}'
    if row.tenant is not None:
        text += f',\n  "tenant": {_json(row.tenant)}'
    if row.revision:
        text += f',\n  "revision": {row.revision}'
    return text if row.meta is None else f'{text},\n  "meta": {_json(dict(row.meta))}'


def _past(row: Row) -> str:
    """What happened: counters always, the rest where there is something."""
    text = (
        f'  "generation": {row.generation},\n  "fence": {row.fence},\n'
        f'  "attempts": {row.attempts},\n  "given_back": {row.given_back}'
    )
    if row.started_at is not None:
        text += f',\n  "started_at": "{text_of(row.started_at)}"'
    if row.settled is not None:
        text += f',\n  "settled": {_json(row.settled)}'
    if row.percent is not None:
        text += f',\n  "percent": {_json(row.percent)}'
    if row.note is not None:
        text += f',\n  "note": {_json(row.note)}'
    if row.stored_checkpoint is not None:
        text += f',\n  "checkpoint": {_spread(row.stored_checkpoint)}'
    if row.errors:
        text += f',\n  "errors": {_lines([_error_facts(error) for error in row.errors])}'
    if row.logs:
        text += f',\n  "logs": {_lines([[text_of(line.at), line.text] for line in row.logs])}'
    return text


def _json(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value)
    if value is None:
        return "null"
    # The encoder takes ten times as long for a number.
    return repr(value) if kind is int or (kind is float and isfinite(value)) else _encode(value)


def _lines(values: list[Any]) -> str:
    return "[\n    " + ",\n    ".join(map(_json, values)) + "\n  ]"


def _spread(body: str) -> str:
    """JSON text as it is if short; else its members one a line."""
    if len(body) <= INLINE:
        return body
    value = json.loads(body)
    if isinstance(value, dict):
        members = ",\n    ".join(f"{quoted(name)}: {_json(value[name])}" for name in value)
        return f"{{\n    {members}\n  }}"
    if isinstance(value, list):
        return _lines(value)
    return body


def _error_facts(error: JobError) -> dict[str, Any]:
    return {
        "attempt": error.attempt,
        "at": text_of(error.at),
        "worker": error.worker,
        "kind": error.kind,
        "text": error.text,
        "traceback": error.traceback,
    }


# -- reading


def parse(content: bytes) -> dict[str, Any]:
    """A JSON object, or `Unreadable` with the place of the mistake."""
    try:
        text = content.decode()
        # The whole decoder looks for white space on both sides, as long as it takes to decode.
        value, end = _decoder.raw_decode(text) if text.startswith("{") else (None, 0)
        if text[end:] != "\n":
            value = _decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable(f"it holds {type(value).__name__}, not a JSON object")
    return value


def row_of(facts: Mapping[str, Any], queue: str, job_id: str) -> Row:
    """A row from a task or a record; `job_id` is used where the file names none.

    Fields are checked as a pushed message's are; unknown ones are left alone. A task that carries
    a finished state was moved back by hand: it is the next generation, with a new budget.
    """
    try:
        row = _read(facts, queue, job_id)
        check_work(row)
    except (*_MISFITS, InvalidMessage) as error:
        raise Unreadable(_complaint(error)) from None
    return row


def row_of_file(facts: Mapping[str, Any], queue: str, job_id: str) -> Row:
    """A row from a `task.json` that people may edit: what it says of `ready_at` is kept in mind."""
    row = row_of(facts, queue, job_id)
    row.told_ready_at = moment_of(facts["ready_at"]) if "ready_at" in facts else 0.0
    return row


def add_history(row: Row, facts: Mapping[str, Any]) -> None:
    """Let `history.json` say what happened to the job since it was pushed.

    Where the task was replaced after that, its own `ready_at` holds and the attempts start anew;
    where people have written another `ready_at` into it, that holds.
    """
    try:
        row.id = _text(facts, "id", row.id)
        row.created_at = moment_of(facts["created_at"])
        row.seq = _number(facts, "seq")
        row.state = State.PAUSED if facts.get("paused") else State.PENDING
        row.finished_at = row.result = row.worker = None
        row.children = ()
        _read_past(row, facts)
        if _number(facts, "revision") < row.revision:
            row.start_anew()
        elif not _is_edited(row, facts):
            row.ready_at = moment_of(facts["ready_at"])
        row.own_facts = True
    except _MISFITS as error:
        raise Unreadable(_complaint(error)) from None


def _is_edited(row: Row, facts: Mapping[str, Any]) -> bool:
    """Whether the task is due at another moment than when its history was written."""
    if row.told_ready_at is None or "task_ready_at" not in facts:
        return False
    return row.told_ready_at != moment_of(facts["task_ready_at"])


def _read(facts: Mapping[str, Any], queue: str, job_id: str) -> Row:
    row = Row(queue, facts.get("id", job_id), facts["task"], _compact(facts.get("payload")))
    row.version = facts.get("version", 1)
    row.priority = facts.get("priority", 0)
    row.max_attempts = facts.get("max_attempts", 5)
    row.seq = _number(facts, "seq")
    if "created_at" in facts:
        row.created_at = moment_of(facts["created_at"])
    row.ready_at = moment_of(facts["ready_at"]) if "ready_at" in facts else row.created_at
    row.key = facts.get("key")
    if "deadline" in facts:
        row.deadline = moment_of(facts["deadline"])
    row.backoff = facts.get("backoff")
    row.timeout = facts.get("timeout")
    row.correlation_id = facts.get("correlation_id")
    row.tenant = facts.get("tenant")
    row.meta = facts.get("meta") or None
    row.revision = _number(facts, "revision")
    if not row.body.isascii():
        row.body.encode()  # half of a pair of code points is no text, and could not be written
    if "fence" in facts or "errors" in facts or "attempts" in facts:
        _read_past(row, facts)
    if "state" in facts:
        _read_end(row, facts)
    return row


def _read_past(row: Row, facts: Mapping[str, Any]) -> None:
    row.generation = _count(facts, "generation", 1)
    row.fence = _count(facts, "fence")
    row.attempts = _count(facts, "attempts")
    row.given_back = _count(facts, "given_back")
    if facts.get("started_at") is not None:
        row.started_at = moment_of(facts["started_at"])
    row.settled = _text(facts, "settled")
    row.percent = _share(facts.get("percent"))
    row.note = _text(facts, "note")
    if "checkpoint" in facts:
        row.stored_checkpoint = _compact(facts["checkpoint"])
    row.errors = [_error_of(error) for error in facts.get("errors", ())]
    row.error = row.errors[-1].text if row.errors else None
    row.logs = [LogLine(moment_of(at), str(text)) for at, text in facts.get("logs", ())]


def _read_end(row: Row, facts: Mapping[str, Any]) -> None:
    state = State(facts["state"])
    if state not in TERMINAL:
        return
    row.state = state
    row.worker = _text(facts, "worker")
    if facts.get("finished_at") is not None:
        row.finished_at = moment_of(facts["finished_at"])
    if "result" in facts:
        row.result = _compact(facts["result"])
    if facts.get("children") and not facts.get("handed_off"):
        row.children = [_message_of(child) for child in facts["children"]]


def _error_of(facts: Mapping[str, Any]) -> JobError:
    return JobError(
        int(facts["attempt"]),
        moment_of(facts["at"]),
        _text(facts, "worker"),
        str(facts["kind"]),
        str(facts["text"]),
        _text(facts, "traceback"),
    )


@overload
def _text(facts: Mapping[str, Any], name: str) -> str | None: ...
@overload
def _text(facts: Mapping[str, Any], name: str, default: str) -> str: ...
def _text(facts: Mapping[str, Any], name: str, default: str | None = None) -> str | None:
    value = facts.get(name, default)
    if type(value) is str or value is default:
        return value
    raise ValueError(f"{name} is {_json(value)}, not text")


def _number(facts: Mapping[str, Any], name: str) -> int:
    value = facts.get(name, 0)
    if type(value) is int:
        return value
    raise ValueError(f"{name} is {_json(value)}, not a whole number")


def _count(facts: Mapping[str, Any], name: str, default: int = 0) -> int:
    value = facts.get(name, default)
    if type(value) is int and 0 <= value <= MAX_COUNT:
        return value
    raise ValueError(f"{name} is {_json(value)}, not a number from 0 to {MAX_COUNT}")


def _share(value: Any) -> float | None:
    if value is None or type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    raise ValueError(f"percent is {_json(value)}, not a number")


def _complaint(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    return str(error)


# -- children that wait in a record

_DEFAULTS: Final = Message(queue="-", task="-", id="-")
_OPTIONS: Final = tuple(name for name in Message.__dataclass_fields__ if name != "body")


def _message_facts(message: Message) -> dict[str, Any]:
    facts = {
        name: value
        for name in _OPTIONS
        if (value := getattr(message, name)) != getattr(_DEFAULTS, name)
    }
    if message.meta:
        facts["meta"] = dict(message.meta)
    return facts | {"payload": message.payload}


def _message_of(facts: Mapping[str, Any]) -> Message:
    options = dict(facts)
    return Message(body=encode(options.pop("payload")), **options)
