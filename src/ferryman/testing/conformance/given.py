"""What a case starts from: messages, claims and their endings, in as few words as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.job import Job, JobError, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.heartbeat import Beat, Pulse
from ferryman.queue.settlement import Receipt, Settlement
from ferryman.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.contract import Backend

QUEUE: Final = "mail"
TASK: Final = "send"
WORKER: Final = "worker-1"
LEASE: Final = 60.0
DAY: Final = 86_400.0

# Policies without chance: ready again at once, and 10, 30, 50, 50, … seconds.
AT_ONCE: Final = Backoff(base=0, jitter=0).text()
STEADY: Final = Backoff(base=10, factor=3, cap=50, jitter=0).text()

# What `push` refuses as an id, and what somebody may still ask for.
NO_IDS: Final = ("a\nb", "a\0b", "a\ud800b")
# Names that are hard on paths, patterns, quotes and collations, and that a user may still choose.
ODD_NAMES: Final = (
    "24/7",
    "..",
    ".hidden",
    "a b",
    "50%",
    "under_score",
    'it\'s "quoted"',
    "back\\slash",
    "; DROP TABLE jobs; --",
    "Überfähre ⛴",
    "🚢",
    "trailing.",
    "CON",
    "x" * 200,
)


# -- jobs


def a_message(
    payload: Any = None, *, queue: str = QUEUE, task: str = TASK, **options: Any
) -> Message:
    return Message.of(queue, task, payload, **options)


def pushed(backend: Backend, payload: Any = None, **options: Any) -> str:
    """The id of a job that was just pushed."""
    [answer] = backend.push([a_message(payload, **options)])
    assert answer.created, f"a new job was expected, the store answered {answer}"
    return answer.id


def several(backend: Backend, count: int, **options: Any) -> list[str]:
    """The ids of `count` jobs pushed in one batch, in order."""
    answers = backend.push([a_message(number, **options) for number in range(count)])
    return [answer.id for answer in answers]


def the_job(backend: Backend, job_id: str) -> Job:
    job = backend.get(job_id)
    assert job is not None, f"the store does not know job {job_id!r}"
    return job


def state_of(backend: Backend, job_id: str) -> State:
    return the_job(backend, job_id).state


# -- claims


def claims(
    backend: Backend,
    limit: int = 100,
    *,
    worker: str = WORKER,
    queue: str = QUEUE,
    lease: float = LEASE,
    turn: int = 0,
) -> list[Job]:
    return list(backend.poll(worker, {queue: limit}, lease=lease, turn=turn))


def claim(backend: Backend, **options: Any) -> Job:
    """The next job of the queue, claimed."""
    found = claims(backend, 1, **options)
    assert len(found) == 1, f"one claimable job was expected, the poll answered {found}"
    return found[0]


def claimed(
    backend: Backend,
    payload: Any = None,
    *,
    worker: str = WORKER,
    lease: float = LEASE,
    **opts: Any,
) -> Job:
    """A job that was just pushed and claimed."""
    job_id = pushed(backend, payload, **opts)
    job = claim(backend, worker=worker, lease=lease, queue=opts.get("queue", QUEUE))
    assert job.id == job_id, f"job {job_id!r} was expected, the poll answered {job.id!r}"
    return job


# -- endings


def settlement(job: Job, verdict: Verdict, **report: Any) -> Settlement:
    return Settlement.of(job, verdict, **report)


def ack(job: Job, result: str | None = None, *, children: Sequence[Message] = ()) -> Settlement:
    return settlement(job, Verdict.ACK, result=result, children=tuple(children))


def nack(job: Job, text: str = "boom", *, delay: float | None = None) -> Settlement:
    return settlement(job, Verdict.NACK, error=an_error(job, text), delay=delay)


def fail(job: Job, text: str = "hopeless") -> Settlement:
    return settlement(job, Verdict.FAIL, error=an_error(job, text))


def give_back(job: Job, *, delay: float | None = None) -> Settlement:
    return settlement(job, Verdict.GIVE_BACK, delay=delay)


def call_off(job: Job) -> Settlement:
    """The handler said Cancel."""
    return settlement(job, Verdict.CANCEL)


def an_error(job: Job, text: str = "boom", *, kind: str = "ValueError") -> JobError:
    at = job.started_at or 0.0
    return JobError(job.attempts, at, job.worker, kind, text, f"Traceback: {text}")


def settle(backend: Backend, ending: Settlement) -> Receipt:
    [receipt] = backend.settle([ending])
    return receipt


def beat(backend: Backend, job: Job, *, lease: float = LEASE, **report: Any) -> Pulse:
    """One heartbeat of the claim's own worker."""
    beats = [Beat(job.id, job.fence, **report)]
    [pulse] = backend.heartbeat(job.worker or WORKER, beats, lease=lease)
    return pulse


# -- states


def in_state(backend: Backend, state: State, payload: Any = None, **options: Any) -> str:
    """The id of a new job that was led into `state`."""
    if state in (State.PENDING, State.PAUSED, State.CANCELLED):
        job_id = pushed(backend, payload, **options)
        if state is State.PAUSED:
            backend.pause([job_id])
        elif state is State.CANCELLED:
            backend.cancel([job_id])
        return job_id
    job = claimed(backend, payload, **options)
    if state is State.COMPLETED:
        settle(backend, ack(job, '"done"'))
    elif state is State.FAILED:
        settle(backend, fail(job))
    return job.id


def tried_and_given_back(backend: Backend, **options: Any) -> str:
    """The id of a job that failed once, got halfway the second time, and was given back."""
    settle(backend, nack(claimed(backend, **options), delay=0))
    job = claim(backend)
    beat(backend, job, percent=50, note="halfway", checkpoint='{"page":40}')
    settle(backend, give_back(job))
    return job.id
