"""The verbs as steps of a script, played alike on the file backend and on the reference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ferryman import Message
from ferryman.ids import child_id
from ferryman.job import JobError
from ferryman.lifecycle import Verdict
from ferryman.queue.heartbeat import Beat
from ferryman.queue.settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman import Job
    from ferryman.backends.files.disk import Disk
    from ferryman.queue.contract import Backend
    from ferryman.testing import FakeClock

LEASE: Final = 60.0
WORKER: Final = "worker"
QUEUES: Final = ("mail", "scan", "next")
EDGE: Final = "edge"
_DAY: Final = 86_400.0


@dataclass(slots=True)
class Stage:
    """A store and its clock, and what one worker holds."""

    backend: Backend
    clock: FakeClock
    held: dict[str, Job] = field(default_factory=dict)
    turn: int = 0
    worker: str = WORKER
    files: tuple[Disk, str] | None = None
    """The disk and the root of the store, for people who use their hands."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a verb. `lasting`: when it answered, no loss of power takes it back."""

    verb: str
    do: Callable[[Stage], Any]
    lasting: bool = True


def message(job_id: str, queue: str = "mail", **options: Any) -> Message:
    """A message without chance: its id is given and its backoff has no jitter."""
    options = {
        "max_attempts": 2,
        "backoff": "4.0,2.0,30.0,0.0",
        "payload": {"of": job_id},
    } | options
    return Message.of(queue, "task", options.pop("payload"), id=job_id, **options)


def children_of(job_id: str, count: int, generation: int = 1) -> tuple[Message, ...]:
    """What a completed generation of a job hands over."""
    ids = [child_id(job_id, generation, EDGE, index) for index in range(count)]
    return tuple(message(one, "next", payload={"parent": job_id}) for one in ids)


def push(*messages: Message) -> Step:
    return Step("push", lambda stage: stage.backend.push(messages))


def poll(count: int = 10, *queues: str) -> Step:
    def do(stage: Stage) -> list[Job]:
        stage.turn += 1
        limits = dict.fromkeys(queues or QUEUES, count)
        jobs = stage.backend.poll(stage.worker, limits, lease=LEASE, turn=stage.turn)
        stage.held.update({job.id: job for job in jobs})
        return list(jobs)

    return Step("poll", do, lasting=False)


def heartbeat(**report: Any) -> Step:
    def do(stage: Stage) -> Any:
        beats = [Beat(job.id, job.fence, **report) for job in stage.held.values()]
        return stage.backend.heartbeat(WORKER, beats, lease=LEASE)

    return Step("heartbeat", do, lasting=False)


def lost_reply() -> Step:
    """The worker never saw the answer to its last poll, and lists nothing."""

    def do(stage: Stage) -> Any:
        stage.held.clear()
        return stage.backend.heartbeat(stage.worker, [], lease=LEASE, answered=stage.turn)

    return Step("give back", do, lasting=False)


def settle(verdict: Verdict, *ids: str, children: int = 0, **report: Any) -> Step:
    """End these claims (none named: every one that is held)."""

    def do(stage: Stage) -> Any:
        return stage.backend.settle([end(stage.held[one]) for one in ids or sorted(stage.held)])

    def end(job: Job) -> Settlement:
        more = dict(report)
        if verdict is Verdict.ACK:
            more = {"result": '"acked"', **more}
            more["children"] = children_of(job.id, children, job.generation)
        elif verdict in {Verdict.NACK, Verdict.FAIL}:
            started = job.started_at or 0.0
            more["error"] = JobError(job.attempts, started, WORKER, "ValueError", "no such page")
        return Settlement.of(job, verdict, **more)

    return Step(verdict, do)


def restore(*jobs: Job) -> Step:
    return Step("restore", lambda stage: stage.backend.restore(jobs))


def reap() -> Step:
    return Step("reap", lambda stage: stage.backend.reap())


def operate(verb: str, *ids: str) -> Step:
    """Cancel, pause, resume, retry or delete."""
    return Step(verb, lambda stage: getattr(stage.backend, verb)(list(ids)))


def purge(queue: str) -> Step:
    return Step("purge", lambda stage: stage.backend.purge(queue))


def prune() -> Step:
    return Step("prune", lambda stage: stage.backend.prune(older_than=_DAY))


def queue_act(verb: str, queue: str) -> Step:
    return Step(verb, lambda stage: getattr(stage.backend, verb)(queue))


def passes(seconds: float) -> Step:
    return Step("time passes", lambda stage: stage.clock.advance(seconds), lasting=False)
