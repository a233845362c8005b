"""push: what becomes of a message, by its id first and then by its key."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.entry import TOGETHER, enter, enter_alone
from ferryman.backends.files.keys import Key
from ferryman.backends.files.names import name_of
from ferryman.backends.files.reading import find, make_durable
from ferryman.backends.files.replace import replace
from ferryman.backends.files.row import Row
from ferryman.errors import BackendUnavailable
from ferryman.job import WAITING
from ferryman.queue.answers import Pushed, make_pushed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferryman.backends.files.store import Store
    from ferryman.message import Message

_TRIES: Final = 20


def is_new(store: Store, message: Message) -> bool:
    """Whether `push` would make a job of its own of this message now."""
    if find(store, message.id) is not None:
        return False
    if message.key is None:
        return True
    with Key(store, store.make_queue(message.queue), message.key) as key:
        return key.holder(message.unique, store.now()) is None


def push(store: Store, messages: Sequence[Message]) -> list[Pushed]:
    """Each message by the rules of the contract, those before it in the batch seen."""
    if len(messages) == 1 and messages[0].key is None and not messages[0].replace:
        return [_push_alone(store, messages[0])]
    answers: list[Pushed] = []
    for run in _runs(messages):
        if len(run) == 1 and (run[0].key is not None or run[0].replace):
            answers.append(_push_one(store, run[0]))
        else:
            answers += _push_plain(store, run)
    return answers


def _push_alone(store: Store, message: Message) -> Pushed:
    folders = store.make_queue(message.queue)
    name = name_of(message.id)
    if not (store.disk.exists(f"{folders.pending}/{name}") or store.ended(folders, name)):
        now = store.now()
        if enter_alone(store, Row.of(message, store.next_seq(now), now), folders, name, now):
            return make_pushed(message.id, "created")
    return _settled_answer(store, message)


def _runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages that can be written together: without key, without replace, of different ids."""
    run: list[Message] = []
    ids: set[str] = set()
    for message in messages:
        alone = message.key is not None or message.replace
        if run and (alone or message.id in ids or len(run) >= TOGETHER):
            yield run
            run, ids = [], set()
        if alone:
            yield [message]
        else:
            run.append(message)
            ids.add(message.id)
    if run:
        yield run


def _push_plain(store: Store, messages: list[Message]) -> list[Pushed]:
    now = store.now()
    answers: dict[str, Pushed] = {}
    fresh: list[Row] = []
    for message in messages:
        folders = store.make_queue(message.queue)
        name = name_of(message.id)
        known = store.disk.exists(f"{folders.pending}/{name}") or store.ended(folders, name)
        if known and (answer := _answer(store, message)) is not None:
            answers[message.id] = answer
        else:
            fresh.append(Row.of(message, store.next_seq(now), now))
    created = {row.id for row in enter(store, fresh, now)} if fresh else set()
    return [
        Pushed(message.id, "created")
        if message.id in created
        else answers.get(message.id) or _settled_answer(store, message)
        for message in messages
    ]


def _push_one(store: Store, message: Message) -> Pushed:
    """A message with a key or with replace: the id decides first, then the key."""
    if message.key is None:
        return _settled_answer(store, message)
    with Key(store, store.make_queue(message.queue), message.key) as key:
        answer = _answer(store, message, key)
        if answer is not None:
            return answer
        for _ in range(_TRIES):
            holder = key.holder(message.unique, store.now())
            if holder is None:
                break
            if message.unique != "replace":
                return Pushed(holder.id, "existing")
            if replace(store, store.folders(holder.queue), holder.id, message, store.now()):
                return Pushed(holder.id, "replaced")
        key.add(message.id)
        return _settled_answer(store, message)


def _settled_answer(store: Store, message: Message) -> Pushed:
    """Create the job or say what is there; two that meet in two queues give way and try again."""
    for attempt in range(_TRIES):
        answer = _answer(store, message)
        if answer is not None:
            return answer
        folders, now = store.make_queue(message.queue), store.now()
        row = Row.of(message, store.next_seq(now), now)
        if enter_alone(store, row, folders, name_of(message.id), now):
            return Pushed(message.id, "created")
        if attempt:
            time.sleep(random.random() * 0.002 * attempt)  # noqa: S311
    raise BackendUnavailable(
        f"job {message.id!r} is being pushed by others at the same time: try again"
    )


def _answer(store: Store, message: Message, key: Key | None = None) -> Pushed | None:
    """What a job with this id makes of the message; None if there is none."""
    found = find(store, message.id)
    if found is None:
        return None
    folders, row = found
    make_durable(store, folders, row)
    if message.same_work(row.queue, row.task, row.version, row.body):
        return Pushed(row.id, "existing")
    if not message.replace or row.state not in WAITING:
        return Pushed(row.id, "conflict")
    if key is not None:
        key.add(row.id)
    replaced = replace(store, folders, row.id, message, store.now())
    return Pushed(row.id, "replaced" if replaced else "conflict")
