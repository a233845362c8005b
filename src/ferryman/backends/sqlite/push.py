"""push: messages become jobs, each once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.sql.rows import meta_text
from ferryman.backends.sqlite.counts import SCHEDULED
from ferryman.backends.sqlite.known import Known
from ferryman.backends.sqlite.meta import add_meta, drop_meta
from ferryman.backends.sqlite.transaction import SQL
from ferryman.backends.sqlite.turns import give_turns
from ferryman.job import WAITING, State
from ferryman.message import Message
from ferryman.queue.answers import Pushed, make_pushed
from ferryman.queue.capacity import NO_LIMITS, push_within

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from ferryman.backends.sqlite.transaction import Transaction
    from ferryman.queue.capacity import Limits

# In the order of push.sql: what is taken over as it is, what all have besides, what may be missing.
_FIELDS: Final = ("id", "queue", "task", "version", "priority", "max_attempts", "body")
_OWN: Final = ("created_at", "ready_at", "scheduled", "timeout")
_OPTIONAL: Final = ("key", "backoff", "correlation_id", "meta", "deadline")
_COLUMNS: Final = (*_FIELDS, *_OWN, *_OPTIONAL, "tenant")
_taken_over = attrgetter(*_FIELDS)
_extras = attrgetter("key", "backoff", "correlation_id", "meta", "expires", "tenant")
_NO_EXTRAS: Final[tuple[Any, ...]] = (None, None, None, {}, None, None)

_RowOf = Callable[[Message, float], tuple[Any, ...]]

_PENDING: Final = State.PENDING.value
_WAITING: Final = json.dumps(sorted(WAITING))
_UNFINISHED: Final = json.dumps(sorted([*WAITING, State.PROCESSING]))
_ALL: Final = json.dumps(list(State))
_LONG_AGO: Final = -1.0


def push(tx: Transaction, messages: Sequence[Message], limits: Limits = NO_LIMITS) -> list[Pushed]:
    """What became of each message, in order."""
    if limits:
        return push_within(
            limits,
            messages,
            partial(push, tx),
            depth=partial(depth, tx.run_text),
            is_new=partial(_is_new, tx),
        )
    if messages and not any(m.key or m.tenant or m.replace for m in messages):
        # Nearly always, and nothing has to be told apart.
        return [_push_new(tx, messages[0])] if len(messages) == 1 else _push_plain(tx, messages)
    pushed: list[Pushed] = []
    for (plain, _), group in groupby(messages, _kind):
        run = list(group)
        pushed += _push_plain(tx, run) if plain else [_push_one(tx, message) for message in run]
    return pushed


def depth(
    execute: Callable[[str, Mapping[str, Any]], sqlite3.Cursor],
    queue: str,
    most: int,
    tenant: str | None,
) -> int:
    """How many pending jobs a queue has, or a tenant of it, at most `most`."""
    values = {"queue": queue, "most": most}
    if tenant is None:
        return int(execute(SQL["depth"], values).fetchone()[0])
    return int(execute(SQL["depth_of_tenant"], {**values, "tenant": tenant}).fetchone()[0])


def key_is_taken(tx: Transaction, queue: str, key: str) -> bool:
    """Whether an unfinished job of the queue holds the key."""
    return _same_key(tx, queue, key, _UNFINISHED, _LONG_AGO) is not None


def _is_new(tx: Transaction, message: Message) -> bool:
    if tx.run("find", {"id": message.id}).fetchone() is not None:
        return False
    return message.key is None or _held_by(tx, message, message.key) is None


def _kind(message: Message) -> tuple[bool, bool]:
    return _is_plain(message), message.tenant is not None


def _is_plain(message: Message) -> bool:
    """Whether only its id can collide."""
    return message.key is None and not message.replace


def _push_new(tx: Transaction, message: Message) -> Pushed:
    """A job, unless one has its id. Most pushes are of one: what they do is kept short."""
    statement, row_of = _writing([message])
    if not tx.run(statement, row_of(message, tx.now)).rowcount:
        return _known_id(tx, message) or Pushed(message.id, "conflict")
    tx.tally.add(message.queue, _PENDING)
    if _ready_at(message, tx.now) > tx.now:
        tx.tally.add(message.queue, SCHEDULED)
    if message.meta:
        add_meta(tx, [(message.id, message.meta)])
    return make_pushed(message.id, "created")


def _push_plain(tx: Transaction, messages: Sequence[Message]) -> list[Pushed]:
    """Only ids can collide here, so everything is inserted in one go and the rest found out."""
    newest = tx.run("newest").fetchone()[0]
    statement, row_of = _writing(messages)
    # Each row is gone before the next is made: a thousand at a time cost a search for garbage.
    rows = (row_of(message, tx.now) for message in messages)
    if tx.run_many(statement, rows) == len(messages):
        _count_created(tx, messages)
        add_meta(tx, ((message.id, message.meta) for message in messages))
        return [make_pushed(message.id, "created") for message in messages]
    return _sort_out(tx, messages, newest)


def _sort_out(tx: Transaction, messages: Sequence[Message], newest: int) -> list[Pushed]:
    new = {job_id for (job_id,) in tx.run("pushed_since", {"seq": newest}).fetchall()}
    pushed, created = [], []
    for message in messages:
        if message.id in new:
            # A second message with this id in the same batch finds the first one's job.
            new.remove(message.id)
            created.append(message)
            pushed.append(Pushed(message.id, "created"))
        else:
            pushed.append(_known_id(tx, message) or Pushed(message.id, "conflict"))
    _count_created(tx, created)
    add_meta(tx, ((message.id, message.meta) for message in created))
    return pushed


def _push_one(tx: Transaction, message: Message) -> Pushed:
    return _known_id(tx, message) or _known_key(tx, message) or _push_new(tx, message)


def _known_id(tx: Transaction, message: Message) -> Pushed | None:
    row = tx.run("find", {"id": message.id}).fetchone()
    if row is None:
        return None
    known = Known._make(row)
    if message.same_work(known.queue, known.task, known.version, known.body):
        return Pushed(message.id, "existing")
    if message.replace and known.state in WAITING:
        return _replace(tx, known, message)
    return Pushed(message.id, "conflict")


def _known_key(tx: Transaction, message: Message) -> Pushed | None:
    if message.key is None:
        return None
    known = _held_by(tx, message, message.key)
    if known is None:
        return None
    if message.unique == "replace":
        return _replace(tx, known, message)
    return Pushed(known.id, "existing")


def _held_by(tx: Transaction, message: Message, key: str) -> Known | None:
    states, since = _looked_at(message, tx.now)
    return _same_key(tx, message.queue, key, states, since)


def _looked_at(message: Message, now: float) -> tuple[str, float]:
    """The states, and since when, in which a job with the same key forbids this message."""
    match message.unique:
        case "waiting" | "replace":
            return _WAITING, _LONG_AGO
        case "unfinished":
            return _UNFINISHED, _LONG_AGO
        case seconds:
            return _ALL, now - seconds


def _same_key(tx: Transaction, queue: str, key: str, states: str, since: float) -> Known | None:
    values = {"queue": queue, "key": key, "states": states, "since": since}
    row = tx.run("same_key", values).fetchone()
    return None if row is None else Known._make(row)


def _replace(tx: Transaction, known: Known, message: Message) -> Pushed:
    values = {"tenant": None, **dict(zip(_COLUMNS, _row(message, tx.now), strict=False))}
    scheduled = known.state == State.PENDING and values["scheduled"]
    tx.run("replace", {**values, "scheduled": scheduled, "seq": known.seq})
    tx.tally.add(known.queue, known.state, -1)
    tx.tally.add(known.queue, SCHEDULED, -known.scheduled)
    tx.tally.add(message.queue, known.state)
    tx.tally.add(message.queue, SCHEDULED, int(scheduled))
    if message.tenant is not None:
        give_turns(tx, message.queue)
    drop_meta(tx, [(known.seq, known.meta)])
    add_meta(tx, [(known.id, message.meta)])
    return Pushed(known.id, "replaced")


def _writing(messages: Sequence[Message]) -> tuple[str, _RowOf]:
    """The statement that takes these messages, and what makes its values of one at a time.

    All of them have a tenant, or none. Most have no extras, and not to bind those saves time.
    """
    if all(map(_NO_EXTRAS.__eq__, map(_extras, messages))):
        return "push_bare", _bare_row
    return "push" if messages[0].tenant is None else "push_in_turn", _row


def _ready_at(message: Message, now: float) -> float:
    return now + message.delay if message.ready_at is None else message.ready_at


def _bare_row(message: Message, now: float) -> tuple[Any, ...]:
    ready_at = _ready_at(message, now)
    timeout = -1 if message.timeout is None else message.timeout
    return (*_taken_over(message), now, ready_at, 1 if ready_at > now else 0, timeout)


def _row(message: Message, now: float) -> tuple[Any, ...]:
    row = (
        *_bare_row(message, now),
        message.key or "",
        message.backoff or "",
        message.correlation_id or "",
        meta_text(message.meta) or "",
        -1 if message.expires is None else now + message.expires,
    )
    return row if message.tenant is None else (*row, message.tenant)


def _count_created(tx: Transaction, messages: Sequence[Message]) -> None:
    for queue, n in Counter([message.queue for message in messages]).items():
        tx.tally.add(queue, State.PENDING, n)
    later = [message.queue for message in messages if _ready_at(message, tx.now) > tx.now]
    for queue, n in Counter(later).items():
        tx.tally.add(queue, SCHEDULED, n)
