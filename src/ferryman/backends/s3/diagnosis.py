"""What only this store can know about itself: its endpoint, its mirror, its quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.files.diagnosis import set_aside
from ferryman.backends.s3.home import FORMAT
from ferryman.backends.s3.location import Consistency
from ferryman.backends.s3.probe import probe
from ferryman.queue.diagnosis import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.s3.node import Node

DEEP_RIVALS: Final = 16
DEEP_ROUNDS: Final = 30


def diagnose(node: Node, *, deep: bool) -> Sequence[Finding]:
    """Every probe. Several writers race for each condition; `deep`: more of them, for longer."""
    node.mark.check()
    races = {"rivals": DEEP_RIVALS, "rounds": DEEP_ROUNDS} if deep else {}
    conditions = probe(node.bucket, node.home.probe, **races).findings()
    if node.location.consistency is Consistency.STRICT:
        local = [_mirror(node), set_aside(node.store)]
        return [_format(node), _strict(), *conditions, *local, _objects(node)]
    # The local tree has told about itself.
    shared = [_objects(node), _duplicates(node)]
    return [_format(node), _relaxed(), *map(_unneeded, conditions), *shared]


def _format(node: Node) -> Finding:
    where = f"s3://{node.bucket.name}/{node.home.base}"
    if not node.mark.made:
        return Finding.ok("bucket", f"nothing is in {where} yet; the first push or poll marks it")
    return Finding.ok("bucket", f"version {FORMAT} in {where}")


def _strict() -> Finding:
    return Finding.ok("consistency", "strict: the bucket decides who gets a job")


def _relaxed() -> Finding:
    return Finding.warning(
        "consistency",
        "relaxed: nodes claim by themselves, and a job may run twice",
        "leave consistency=relaxed out of the URL, unless nodes must work offline",
    )


def _unneeded(finding: Finding) -> Finding:
    """What a condition means to nodes that decide nothing in the bucket."""
    if finding.severity is Severity.OK:
        return finding
    return Finding.ok(finding.check, f"{finding.what}; strict could not be used here")


def _duplicates(node: Node) -> Finding:
    """Second ends of one job; only relaxed nodes can make them."""
    prefixes = [node.home.duplicate(queue, "", "") for queue in node.store.queues()]
    found = [
        entry.key
        for prefix in prefixes
        for entry in node.bucket.list(prefix.rpartition("/")[0] + "/")
    ]
    if not found:
        return Finding.ok("duplicates", "no job was finished twice")
    return Finding.warning(
        "duplicates",
        f"{len(found)} job(s) were finished twice, such as {found[0]}",
        "use consistency=strict if that must not be; delete the objects once you have seen them",
    )


def _objects(node: Node) -> Finding:
    found = list(node.troubles.all())
    if not found:
        return Finding.ok("objects", "the last pass could read every object that it looked at")
    first = found[0]
    return Finding.warning(
        "objects",
        f"{len(found)} object(s) cannot be used, such as {first.path}: {first.reason}",
        "correct each in the bucket, or delete it",
    )


def _mirror(node: Node) -> Finding:
    age = node.sync.age
    root = node.store.layout.root
    if age is None:
        return Finding.ok("mirror", f"{root} was not synced yet; the first poll does it")
    return Finding.ok("mirror", f"{root} was synced {age:,.0f} s ago")
