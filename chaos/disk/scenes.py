"""Every verb in the situations where it does something: what was before, and the act itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chaos.disk.course import jobs_after
from chaos.disk.steps import (
    LEASE,
    heartbeat,
    lost_reply,
    message,
    operate,
    passes,
    poll,
    prune,
    purge,
    push,
    queue_act,
    reap,
    restore,
    settle,
)
from ferryman.lifecycle import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaos.disk.steps import Step

ACK, NACK, FAIL = Verdict.ACK, Verdict.NACK, Verdict.FAIL
GIVE_BACK, CANCEL = Verdict.GIVE_BACK, Verdict.CANCEL


@dataclass(frozen=True, slots=True)
class Scene:
    """`before` is played undisturbed; a crash comes in the `act`.

    `by_hand`: people used their hands before, an hour ago; the act is another process's. So many
    files are set `aside` in the end.
    """

    name: str
    before: Sequence[Step]
    act: Step
    by_hand: bool = False
    aside: int = 0


A, B, C = message("a"), message("b"), message("c", "scan")
KEYED = message("k", key="once")
REPLACING = message("a", payload={"of": "another"}, replace=True)
LATE = passes(LEASE + 1)
TWO = [push(A, B), poll()]
FINISHED = [*TWO, settle(ACK, "a"), settle(FAIL, "b")]

WAITING = jobs_after(push(A, B, KEYED), poll(2), settle(NACK), operate("pause", "b"))
ENDED = jobs_after(*FINISHED)

SCENES: Final[tuple[Scene, ...]] = (
    Scene("push one", [], push(A)),
    Scene("push one more", [push(B)], push(A)),
    Scene("push a batch", [push(message("z"))], push(A, B, C)),
    Scene("push with a delay", [], push(message("a", delay=30.0, priority=10))),
    Scene("push with a key", [], push(KEYED)),
    Scene(
        "push with a key that is held",
        [push(KEYED)],
        push(message("l", key="once")),
    ),
    Scene(
        "push with a key that is free again",
        [push(KEYED), poll(), settle(ACK)],
        push(message("l", key="once")),
    ),
    Scene(
        "push replaces by key",
        [push(KEYED)],
        push(message("l", key="once", unique="replace", payload={"of": "new"})),
    ),
    Scene("push replaces", [push(A)], push(REPLACING)),
    Scene("push replaces a paused one", [push(A), operate("pause", "a")], push(REPLACING)),
    Scene(
        "push replaces into another queue",
        [push(C, B)],
        push(message("c", payload={"of": "another"}, replace=True)),
    ),
    Scene("push what exists", [push(A)], push(A)),
    Scene("push what is finished", [push(A), poll(), settle(ACK)], push(A)),
    Scene("poll one", [push(A)], poll(1)),
    Scene("poll many", [push(A, B, C)], poll()),
    Scene("poll again after a nack", [push(A), poll(), settle(NACK), passes(10)], poll()),
    Scene("heartbeat", TWO, heartbeat()),
    Scene(
        "heartbeat with a report",
        TWO,
        heartbeat(percent=40.0, note="page 40", checkpoint='{"page":40}'),
    ),
    Scene("ack one", [push(A), poll()], settle(ACK)),
    Scene("ack many", [push(A, B, C), poll()], settle(ACK)),
    Scene("ack with a key", [push(KEYED), poll()], settle(ACK)),
    Scene("ack with hand-off", [push(A), poll()], settle(ACK, children=2)),
    Scene("ack many with hand-off", TWO, settle(ACK, children=1)),
    Scene("ack after a report", [*TWO, heartbeat(percent=9.0, checkpoint="1")], settle(ACK)),
    Scene("ack when cancel was asked", [*TWO, operate("cancel", "a")], settle(ACK, children=1)),
    Scene("nack", TWO, settle(NACK)),
    Scene("nack after a report", [*TWO, heartbeat(percent=9.0, checkpoint="1")], settle(NACK)),
    Scene(
        "nack the last attempt",
        [push(A), poll(), settle(NACK), passes(10), poll()],
        settle(NACK),
    ),
    Scene("nack when pause was asked", [*TWO, operate("pause", "a")], settle(NACK)),
    Scene("nack when cancel was asked", [*TWO, operate("cancel", "a")], settle(NACK)),
    Scene("give back", TWO, settle(GIVE_BACK, delay=5.0)),
    Scene("give back when pause was asked", [*TWO, operate("pause", "a")], settle(GIVE_BACK)),
    Scene("give back a lost reply", TWO, lost_reply()),
    Scene("fail", TWO, settle(FAIL)),
    Scene("cancel by the handler", TWO, settle(CANCEL)),
    Scene("reap to retry", [*TWO, LATE], reap()),
    Scene(
        "reap to failed",
        [push(A), poll(), settle(NACK), passes(10), poll(), LATE],
        reap(),
    ),
    Scene("reap when cancel was asked", [*TWO, operate("cancel", "a"), LATE], reap()),
    Scene("reap a deadline", [push(message("a", expires=20.0), B), passes(30)], reap()),
    Scene("cancel a waiting one", [push(A, B)], operate("cancel", "a")),
    Scene("cancel a paused one", [push(A), operate("pause", "a")], operate("cancel", "a")),
    Scene("ask to cancel", TWO, operate("cancel", "a", "b")),
    Scene("pause a waiting one", [push(A, B)], operate("pause", "a")),
    Scene("ask to pause", TWO, operate("pause", "a", "b")),
    Scene("ask to cancel after a pause", [*TWO, operate("pause", "a")], operate("cancel", "a")),
    Scene("resume", [push(A), operate("pause", "a")], operate("resume", "a")),
    Scene("retry a failed one", FINISHED, operate("retry", "b")),
    Scene("retry a completed one", FINISHED, operate("retry", "a", "b")),
    Scene("retry with a key", [push(KEYED), poll(), settle(FAIL)], operate("retry", "k")),
    Scene(
        "ack the second generation",
        [*FINISHED, operate("retry", "a"), poll()],
        settle(ACK, "a", children=1),
    ),
    Scene("delete a waiting one", [push(A, B)], operate("delete", "a")),
    Scene("delete one that was tried", [*TWO, settle(NACK)], operate("delete", "a")),
    Scene("delete a paused one", [push(A), operate("pause", "a")], operate("delete", "a")),
    Scene("delete a finished one", FINISHED, operate("delete", "a")),
    Scene("push after delete", [push(KEYED), operate("delete", "k")], push(KEYED)),
    Scene("purge", [push(A, B, C), operate("pause", "a")], purge("mail")),
    Scene("prune", [*FINISHED, passes(2 * 86_400.0)], prune()),
    Scene("restore waiting ones", [], restore(*WAITING)),
    Scene("restore finished ones", [push(C)], restore(*ENDED)),
    Scene("pause a queue", [push(A, B)], queue_act("pause_queue", "mail")),
    Scene(
        "resume a queue",
        [push(A), queue_act("pause_queue", "mail")],
        queue_act("resume_queue", "mail"),
    ),
)
