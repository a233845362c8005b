"""What the bucket says about one job, judged from its objects read together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.files.document import Unreadable, parse, row_of
from ferryman.backends.files.layout import ENDS
from ferryman.backends.files.names import text_of
from ferryman.backends.files.row import Row
from ferryman.backends.s3.errors import UnreadableObject
from ferryman.backends.s3.hold import Hold, Standing, check_row, row_of_record, row_of_task
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.node import Node
    from ferryman.job import State

_LOOKS: Final = 3


@dataclass(slots=True)
class Sight:
    """One job at one moment.

    `task` and `hold` are the etags of its `task.json` and `lease.json`, None where there is none;
    `change` is the number of the hold's version. `owed`: whoever ended it has not tidied up;
    `recorded`: its finished record stands. `gone`: it was deleted, or `moved` to another queue.
    `at` is when the hold was written. `raised` (relaxed) is by how much the row's fence is higher
    than in the bucket, because this node has used the numbers in between.
    """

    row: Row
    task: str | None = None
    hold: str | None = None
    change: int = 0
    turn: int = 0
    owed: bool = False
    recorded: bool = False
    gone: bool = False
    moved: Mapping[str, Any] | None = None
    at: float = 0.0
    records: Mapping[State, str] = field(default_factory=dict)
    raised: int = 0

    @property
    def by_people(self) -> bool:
        """Of a job in the local tree: whether people put it there, and the bucket lacks it."""
        return self.task is None

    def fork(self) -> Row:
        """A copy of the row to change; this one stays what was seen."""
        return self.row.copy()


def see(node: Node, queue: str, name: str, *, records: bool = False) -> Sight | None:
    """The job of this name in a queue; None if there is none.

    Two reads at once; three more where these do not say it all, or where `records` are wanted.
    `UnreadableObject`, if there is something that may be the job.
    """
    home, get = node.home, node.bucket.get
    keys = [home.lease(queue, name), home.task(queue, name)]
    ends = [home.record(queue, state, name) for state in ENDS]
    for _ in range(_LOOKS):
        lease, task, *read = node.together(
            [partial(get, key) for key in (*keys, *(ends if records else ()))]
        )
        if not read and _needs_records(node, queue, name, lease, task):
            read = list(node.together([partial(get, key) for key in ends]))
        ended = dict(zip(ENDS, read, strict=False))
        sight, settled = _judge(node, queue, name, lease=lease, task=task, ended=ended)
        if sight is None:
            refuse_unreadable(node, queue, name, ended)
        if settled:
            return sight
        # It was ended, retried or deleted between the reads.
    return None


def _needs_records(
    node: Node, queue: str, name: str, lease: Object | None, task: Object | None
) -> bool:
    """Whether a finished record may say more than hold and task.

    A task that was claimed, or that this node has let in, was looked at when it entered. Without a
    task the hold of a job that is over says everything: the task goes last.
    """
    hold = None if lease is None else Hold.read(lease)
    if task is None:
        return hold is None or hold.standing is not Standing.DONE
    if hold is not None and _belongs(hold, task):
        return hold.over
    return node.mirror.task_of(queue, name) != task.etag


def see_task(node: Node, queue: str, name: str, task: Object) -> Sight | None:
    """The job whose `task.json` was just read; one read more where it is not over."""
    lease = node.bucket.get(node.home.lease(queue, name))
    if lease is not None and _belongs(Hold.read(lease), task) and Hold.read(lease).over:
        return see(node, queue, name)
    return _judge(node, queue, name, lease=lease, task=task, ended={})[0]


def without_unreadable(look: Callable[[], Sight | None]) -> Sight | None:
    """What is seen besides an object that nobody can read: how the job ended, or nothing."""
    try:
        return look()
    except UnreadableObject as unreadable:
        return unreadable.ended


def check_id(row: Row, job_id: str, name: str) -> None:
    if row.id != job_id:
        raise BackendRejected(
            f"the name {name!r} in queue {row.queue!r} belongs to job {row.id!r}, so job "
            f"{job_id!r} cannot be kept here: choose another id"
        )


def see_ended(queue: str, name: str, lease: Object) -> Sight | None:
    """A job by its `lease.json` alone, where no task stands any more; None if it is not over."""
    hold = Hold.read(lease)
    if not hold.over:
        return None
    sight = _ended(queue, name, hold, None, None)
    sight.hold, sight.at, sight.owed, sight.moved = lease.etag, hold.at, False, None
    sight.row.children = ()
    return sight


def read_record(content: bytes, queue: str, name: str, state: State) -> Row | None:
    """A finished record; None for what nobody can read."""
    try:
        return row_of_record(content, queue, name, state)
    except Unreadable:
        return None


def refuse_unreadable(
    node: Node, queue: str, name: str, ended: Mapping[State, Object | None]
) -> None:
    """Records that nobody can read are not the same as none: the id is taken."""
    for state, found in ended.items():
        if found is not None:
            try:
                row_of_record(found.body, queue, name, state)
            except Unreadable as error:
                key = node.home.record(queue, state, name)
                raise UnreadableObject(node.bucket.name, key, str(error)) from None


def _judge(
    node: Node,
    queue: str,
    name: str,
    *,
    lease: Object | None,
    task: Object | None,
    ended: Mapping[State, Object | None],
) -> tuple[Sight | None, bool]:
    """What the objects say together, and whether that is one moment's truth."""
    records = {state: found.etag for state, found in ended.items() if found is not None}
    record = _latest(queue, name, ended)
    hold = None if lease is None else Hold.read(lease)
    held = None if lease is None else lease.etag
    if hold is not None and hold.over and (task is None or _belongs(hold, task)):
        etag = None if record is None else records.get(record.state)
        sight = _ended(queue, name, hold, record, etag)
        sight.task = None if task is None else task.etag
        sight.hold, sight.at = held, hold.at
        kept = hold.facts["records"] if sight.gone else records.values()
        sight.records = {state: etag for state, etag in records.items() if etag in kept}
        if task is not None:
            sight.owed = True
        elif not sight.gone:
            # The task goes last: everything else was done before.
            sight.owed, sight.row.children = False, ()
        return sight, True
    if task is not None:
        try:
            row = _row(queue, name, task, hold)
        except Unreadable as error:
            key = node.home.task(queue, name)
            end = None if record is None else Sight(record, recorded=True)
            raise UnreadableObject(node.bucket.name, key, str(error), end) from None
        if record is not None and record.generation >= row.generation:
            # A push whose writer died before it looked, or that came late: the record wins.
            sight = Sight(record, task.etag, held, _change(hold), owed=True, recorded=True)
            sight.records = records
            return sight, True
        belongs = hold is not None and _belongs(hold, task)
        turn = hold.turn if hold is not None and belongs else 0
        return Sight(row, task.etag, held, _change(hold), turn, records=records), True
    if record is not None:
        sight = Sight(record, None, held, _change(hold), owed=bool(record.children), recorded=True)
        sight.records = records
        return sight, True
    return None, hold is None


def _row(queue: str, name: str, task: Object, hold: Hold | None) -> Row:
    mine = hold if hold is not None and _belongs(hold, task) else None
    replaced = None if mine is None else mine.facts.get("replaced")
    row = row_of_task(replaced or parse(task.body), queue, name)
    if mine is not None:
        mine.tell(row)
    check_row(row, name)
    return row


def _ended(queue: str, name: str, hold: Hold, record: Row | None, etag: str | None) -> Sight:
    """A job that is over: by the record, once it is written, else by what the hold holds."""
    gone = hold.standing is Standing.GONE
    later = record is not None and record.generation > hold.generation
    if record is not None and (later or (gone and etag not in hold.facts["records"])):
        return Sight(record, change=hold.change, owed=bool(record.children), recorded=True)
    if gone:
        row = record or Row(queue, text_of(name), "-", "null")
        row.generation, row.seq = hold.generation, int(hold.facts["seq"])
        moved = hold.facts.get("moved")
        owed = record is not None or moved is not None
        return Sight(row, change=hold.change, owed=owed, gone=True, moved=moved)
    if record is not None and record.generation == hold.generation:
        return Sight(record, change=hold.change, owed=bool(record.children), recorded=True)
    row = row_of(hold.facts["record"], queue, text_of(name))
    return Sight(row, change=hold.change, owed=True)


def _latest(queue: str, name: str, ended: Mapping[State, Object | None]) -> Row | None:
    rows: Sequence[Row | None] = [
        read_record(found.body, queue, name, state)
        for state, found in ended.items()
        if found is not None
    ]
    found = [row for row in rows if row is not None]
    return max(found, key=lambda row: (row.generation, row.fence), default=None)


def _belongs(hold: Hold, task: Object) -> bool:
    return hold.task is None or hold.task == task.etag


def _change(hold: Hold | None) -> int:
    return 0 if hold is None else hold.change
