"""push: what becomes of a message, by its id first and then by its key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ferryman.backends.files.names import name_of
from ferryman.backends.files.row import Row
from ferryman.backends.s3.answers import Object
from ferryman.backends.s3.entry import enter, enter_text
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.find import find
from ferryman.backends.s3.hold import task_object
from ferryman.backends.s3.keys import Key
from ferryman.backends.s3.replace import replace
from ferryman.backends.s3.sight import Sight, check_id, see, see_task
from ferryman.errors import BackendUnavailable
from ferryman.job import WAITING
from ferryman.queue.answers import Pushed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferryman.backends.s3.node import Node
    from ferryman.message import Message

_TRIES: Final = 10


def push(node: Node, messages: Sequence[Message]) -> list[Pushed]:
    """Each message by the rules of the contract, those before it in the batch seen.

    An object that nobody can read in the place of one is raised when all others were pushed.
    """
    answers = []
    for answer in push_readable(node, messages, number(node, messages)):
        if isinstance(answer, UnreadableObject):
            raise answer
        answers.append(answer)
    return answers


def push_readable(
    node: Node, messages: Sequence[Message], numbers: Sequence[int]
) -> list[Pushed | UnreadableObject]:
    """The same, with what is in the way for an answer. `numbers`: places in the push order."""
    answers: list[Pushed | UnreadableObject] = []
    places = iter(numbers)
    for run in _runs(messages):
        numbered = [(message, next(places)) for message in run]
        answers += node.each(partial(_try, node, node.store.now()), numbered)
    return answers


def is_new(node: Node, message: Message) -> bool:
    """Whether `push` would make a job of its own of this message now."""
    sight = find(node, message.id)
    if sight is not None and not sight.gone:
        return False
    if message.key is None:
        return True
    key = Key(node, message.queue, message.key)
    return key.holder(message.unique, message.id) is None


def number(node: Node, messages: Sequence[Message]) -> Sequence[int]:
    """Places in the push order, taken before the messages go their ways at the same time."""
    now = node.store.now()
    return [node.store.next_seq(now) for _ in messages]


def _runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Messages that can enter at the same time: without key, without replace, of different ids."""
    run: list[Message] = []
    ids: set[str] = set()
    for message in messages:
        alone = message.key is not None or message.replace
        if run and (alone or message.id in ids):
            yield run
            run, ids = [], set()
        if alone:
            yield [message]
        else:
            run.append(message)
            ids.add(message.id)
    if run:
        yield run


def _try(node: Node, now: float, numbered: tuple[Message, int]) -> Pushed | UnreadableObject:
    try:
        return _push(node, now, numbered)
    except UnreadableObject as unreadable:
        return unreadable


def _push(node: Node, now: float, numbered: tuple[Message, int]) -> Pushed:
    message, seq = numbered
    known = _known(node, message)
    if known is not None:
        return known
    row = Row.of(message, seq, now)
    if message.ready_at is None:
        node.put_off(row, now)
    if message.key is None:
        return _enter(node, message, partial(enter, node, row))
    task = task_object(row)
    for _ in range(_TRIES):
        key = Key(node, message.queue, message.key)
        holder = key.take(message.unique, message.id, row.created_at, task)
        if holder is None:
            enter_once = partial(enter_text, node, message.queue, name_of(message.id), task)
            return _enter(node, message, enter_once)
        if message.unique != "replace":
            return Pushed(holder.row.id, "existing")
        if replace(node, holder, message):
            return Pushed(holder.row.id, "replaced")
    raise _crowded(message)


def _enter(node: Node, message: Message, enter_once: Callable[[], Sight | Object | None]) -> Pushed:
    """Create the job, or say what is there."""
    name = name_of(message.id)
    for _ in range(_TRIES):
        entered = enter_once()
        if isinstance(entered, Sight):
            return Pushed(message.id, "created")
        if isinstance(entered, Object) and not message.replace:
            sight = see_task(node, message.queue, name, entered)
        else:
            # Whose writer died may stand beside the record of a job that is over.
            sight = see(node, message.queue, name, records=message.replace)
        if sight is not None and not sight.gone:
            return _answer(node, message, sight)
        if sight is not None and sight.task is not None:
            node.bucket.delete(node.home.task(message.queue, name), sight.task)
    raise _crowded(message)


def _known(node: Node, message: Message) -> Pushed | None:
    """What a job makes of the message that this node knows by the same id, in any queue."""
    name = name_of(message.id)
    for queue in node.store.queues():
        if node.mirror.knows(queue, name):
            sight = see(node, queue, name)
            if sight is not None and not sight.gone:
                return _answer(node, message, sight)
            node.mirror.forget(queue, name)
    return None


def _answer(node: Node, message: Message, sight: Sight) -> Pushed:
    row = sight.row
    check_id(row, message.id, name_of(message.id))
    if message.same_work(row.queue, row.task, row.version, row.body):
        return Pushed(row.id, "existing")
    if not message.replace or row.state not in WAITING:
        return Pushed(row.id, "conflict")
    if message.key is not None:
        key = Key(node, message.queue, message.key)
        # The job takes the key along, whoever else has it: the id decides first.
        key.add(row.id, row.created_at)
    return Pushed(row.id, "replaced" if replace(node, sight, message) else "conflict")


def _crowded(message: Message) -> BackendUnavailable:
    return BackendUnavailable(
        f"job {message.id!r} is being pushed and removed by others at the same time: try again"
    )
