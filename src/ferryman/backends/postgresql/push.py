"""push: messages become jobs, each once."""

from __future__ import annotations

from functools import partial
from itertools import compress, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import psycopg

from ferryman.backends.postgresql.known import Known
from ferryman.backends.postgresql.turns import in_turn
from ferryman.backends.sql.rows import meta_text
from ferryman.errors import InvalidMessage
from ferryman.frozen import maker
from ferryman.job import WAITING, State
from ferryman.queue.answers import Pushed
from ferryman.queue.capacity import NO_LIMITS, push_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.message import Message
    from ferryman.queue.capacity import Limits

# From here on a stream is quicker than calls, even though it has to be begun and ended.
MANY: Final = 10

_made = attrgetter("id", "queue", "task", "body", "version", "priority", "max_attempts")
_optional = attrgetter("key", "backoff", "timeout", "correlation_id")
_extras = attrgetter(
    "delay", "ready_at", "expires", "key", "backoff", "correlation_id", "meta", "tenant"
)
_NO_EXTRAS: Final[tuple[Any, ...]] = (0, None, None, None, None, None, {}, None)
_make_pushed = maker(Pushed)

_WAITING: Final = sorted(map(str, WAITING))
_UNFINISHED: Final = [*_WAITING, str(State.PROCESSING)]
_ALL: Final = [str(state) for state in State]
_LONG_AGO: Final = -1.0


def push(tx: Transaction, messages: Sequence[Message], limits: Limits = NO_LIMITS) -> list[Pushed]:
    """What became of each message, in order."""
    if limits:
        return push_within(
            limits,
            messages,
            partial(push, tx),
            depth=partial(_depth, tx),
            is_new=partial(_is_new, tx),
        )
    # Before any row: whoever locks in this order cannot wait in a circle.
    lock_keys(tx, [(m.queue, m.key) for m in messages if m.key is not None])
    pushed: list[Pushed] = []
    for (plain, _), group in groupby(messages, _kind):
        run = list(group)
        if plain:
            pushed += _push_plain(tx, run)
        else:
            pushed += [_push_one(tx, message) for message in run]
    return pushed


def push_exactly(tx: Transaction, messages: Sequence[Message], limits: Limits) -> list[Pushed]:
    """The same, and nobody else counts these queues until the commit.

    Not for a transaction of the caller's own: everybody would wait for its end.
    """
    queues = {message.queue for message in messages if message.queue in limits}
    tx.run("lock_capacity", {"queues": list(queues)})
    return push(tx, messages, limits)


def _depth(tx: Transaction, queue: str, most: int, tenant: str | None) -> int:
    [(found,)] = tx.rows("depth", {"queue": queue, "tenant": tenant, "most": most})
    return int(found)


def _is_new(tx: Transaction, message: Message) -> bool:
    if tx.row("find", {"id": message.id}) is not None:
        return False
    return message.key is None or _held_by(tx, message, message.key) is None


def is_plain(message: Message) -> bool:
    """Whether nothing but its id can collide, and it has no tenant."""
    return message.key is None and not message.replace and message.tenant is None


def _kind(message: Message) -> tuple[bool, bool]:
    """Whether nothing but its id can collide, and whether it has a tenant."""
    return message.key is None and not message.replace, message.tenant is not None


def statement(message: Message) -> str:
    """The form of the call: to bind what is missing takes as long as to bind what is there."""
    return "push_bare" if _extras(message) == _NO_EXTRAS else "push"


def call(
    message: Message, now: float | None, *, announce: bool = False, bare: bool = False
) -> tuple[Any, ...]:
    """The values of push.sql, or of push_bare.sql."""
    if bare:
        return (*_made(message), message.timeout, announce, now)
    tenant = () if message.tenant is None else (message.tenant,)
    return (
        *tenant,
        *_made(message),
        message.delay,
        message.ready_at,
        message.expires,
        *_optional(message),
        meta_text(message.meta),
        announce,
        now,
    )


def lock_keys(tx: Transaction, keys: Sequence[tuple[str, str]]) -> None:
    """Keep others from pushing or retrying with these keys of queues until the commit."""
    if keys and tx.fixed:
        raise InvalidMessage("connection", "must be READ COMMITTED, so that keys can be seen")
    if keys:
        tx.run("lock_keys", {"keys": sorted({f"{queue}\n{key}" for queue, key in keys})})


def key_is_taken(tx: Transaction, queue: str, key: str) -> bool:
    """Whether an unfinished job of the queue holds the key."""
    return _same_key(tx, queue, key, _UNFINISHED, _LONG_AGO) is not None


def any_finished(tx: Transaction, ids: Sequence[str]) -> bool:
    """Whether a job with one of these ids has finished."""
    [(found,)] = tx.rows("any_finished", {"ids": "\n".join(ids)})
    return bool(found)


def _push_plain(tx: Transaction, messages: Sequence[Message]) -> list[Pushed]:
    # Where all statements see one moment, only the function notices what was settled since.
    if len(messages) >= MANY and not tx.fixed and _copied(tx, messages):
        tx.awakens.update({message.queue for message in messages})
        return [_make_pushed(message.id, "created") for message in messages]
    name = _statement(messages[0])
    created = tx.ask_many(name, [call(message, tx.now) for message in messages])
    tx.awakens.update(message.queue for message in compress(messages, created))
    if all(created):
        return [_make_pushed(message.id, "created") for message in messages]
    return _sort_out(tx, messages, created)


def _copied(tx: Transaction, messages: Sequence[Message]) -> bool:
    """Stream all of them, or change nothing if any id is known."""
    tx.savepoint()
    try:
        rows = [_row(message, tx.now) for message in messages]
        if messages[0].tenant is None:
            tx.copy("copy", rows)
        else:
            tx.copy("copy_in_turn", in_turn(tx, messages, rows))
    except psycopg.errors.UniqueViolation:
        tx.back_to_savepoint()
        return False
    # A new statement, so it sees a settlement for which the stream had to wait.
    if any_finished(tx, [message.id for message in messages]):
        tx.back_to_savepoint()
        return False
    return True


def _statement(message: Message) -> str:
    return "push" if message.tenant is None else "push_in_turn"


def _sort_out(
    tx: Transaction, messages: Sequence[Message], created: Sequence[bool]
) -> list[Pushed]:
    ids = [message.id for message, new in zip(messages, created, strict=True) if not new]
    known = {row[1]: Known._make(row) for row in tx.rows("find_all", {"ids": "\n".join(ids)})}
    pushed = []
    for message, new in zip(messages, created, strict=True):
        if new:
            pushed.append(Pushed(message.id, "created"))
        elif (job := known.get(message.id)) is not None:
            pushed.append(Pushed(message.id, "existing" if _is_work(message, job) else "conflict"))
        else:
            # Deleted since it was met.
            pushed.append(_push_one(tx, message))
    return pushed


def _push_one(tx: Transaction, message: Message) -> Pushed:
    while True:
        known = _known_id(tx, message) or _known_key(tx, message)
        if known is not None:
            return known
        if _create(tx, message):
            return Pushed(message.id, "created")


def _create(tx: Transaction, message: Message) -> bool:
    # Dated after the look for its key: whoever held that may have ended since we began.
    [(created,)] = tx.rows(_statement(message), call(message, tx.given_now))
    if created:
        tx.awakens.add(message.queue)
    return bool(created)


def _known_id(tx: Transaction, message: Message) -> Pushed | None:
    while (row := tx.row("find", {"id": message.id})) is not None:
        known = Known._make(row)
        if _is_work(message, known):
            return Pushed(message.id, "existing")
        if not message.replace or known.state not in WAITING:
            return Pushed(message.id, "conflict")
        if _replace(tx, known, message):
            return Pushed(message.id, "replaced")
        # It was claimed or deleted meanwhile: look again.
    return None


def _is_work(message: Message, known: Known) -> bool:
    return message.same_work(known.queue, known.task, known.version, known.body)


def _known_key(tx: Transaction, message: Message) -> Pushed | None:
    if message.key is None:
        return None
    while True:
        known = _held_by(tx, message, message.key)
        if known is None:
            return None
        if message.unique != "replace":
            return Pushed(known.id, "existing")
        if _replace(tx, known, message):
            return Pushed(known.id, "replaced")
        # It was claimed or deleted meanwhile: look again.


def _held_by(tx: Transaction, message: Message, key: str) -> Known | None:
    states, since = _looked_at(message, tx.now)
    return _same_key(tx, message.queue, key, states, since)


def _looked_at(message: Message, now: float) -> tuple[list[str], float]:
    """The states, and since when, in which a job with the same key forbids this message."""
    match message.unique:
        case "waiting" | "replace":
            return _WAITING, _LONG_AGO
        case "unfinished":
            return _UNFINISHED, _LONG_AGO
        case seconds:
            return _ALL, now - seconds


def _same_key(
    tx: Transaction, queue: str, key: str, states: list[str], since: float
) -> Known | None:
    values = {"queue": queue, "key": key, "states": states, "since": since}
    row = tx.row("same_key", values)
    return None if row is None else Known._make(row)


def _replace(tx: Transaction, known: Known, message: Message) -> bool:
    """Whether the job still waited, and has the message's body and options now."""
    ready_at = tx.now + message.delay if message.ready_at is None else message.ready_at
    values = {
        "seq": known.seq,
        "queue": message.queue,
        "task": message.task,
        "version": message.version,
        "priority": message.priority,
        "max_attempts": message.max_attempts,
        "key": message.key,
        "backoff": message.backoff,
        "timeout": message.timeout,
        "correlation_id": message.correlation_id,
        "body": message.body,
        "meta": meta_text(message.meta),
        "tenant": message.tenant,
        "ready_at": ready_at,
        "scheduled": ready_at > tx.now,
        "deadline": None if message.expires is None else tx.now + message.expires,
    }
    replaced = tx.run("replace", values).rowcount == 1
    if replaced:
        tx.awakens.add(message.queue)
    return replaced


def _row(message: Message, now: float) -> tuple[Any, ...]:
    """The columns of copy.sql."""
    ready_at = now + message.delay if message.ready_at is None else message.ready_at
    return (
        *_made(message),
        now,
        ready_at,
        ready_at > now,
        None if message.expires is None else now + message.expires,
        *_optional(message),
        meta_text(message.meta),
    )
