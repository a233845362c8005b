"""What Hypothesis draws for the machine: few names, so that jobs meet each other often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from ferryman.ids import child_id
from ferryman.job import Job, JobError, LogLine, State
from ferryman.lifecycle import Verdict
from ferryman.message import Message
from ferryman.queue.settlement import Settlement
from ferryman.retry import Backoff

QUEUES: Final = ("north", "24/7")
TASKS: Final = ("load", "row")
WORKERS: Final = ("ann", "bob")
PLAIN_IDS: Final = ("a", "b", "c", "d", "..", "é/1")
KEYED_IDS: Final = ("k1", "k2", "k3", "k4")
MISSING: Final = "never-pushed"
LEASES: Final = (10.0, 60.0)
MOST_ATTEMPTS: Final = 3

# No sum of at most 70 of these is a whole number, while every delay, lease and deadline is one:
# nothing ever falls on the very moment, where a store may take either side.
STEPS: Final = (0.0137, 3.0137, 15.0137, 70.0137, 100_000.0137)

queues = st.sampled_from(QUEUES)
workers = st.sampled_from(WORKERS)
leases = st.sampled_from(LEASES)
steps = st.sampled_from(STEPS)
limits = st.sampled_from((1_000, 1))
rarely = st.sampled_from((False, False, True))
mostly = st.sampled_from((True, True, False))
polled = st.dictionaries(queues, st.sampled_from((4, 2, 1, 0)), min_size=1)
skipped_tasks = st.sets(st.sampled_from(TASKS), max_size=1)
picks = st.integers(0, 7)
several_picks = st.lists(picks, min_size=1, max_size=3)
maybe_percent = st.none() | st.sampled_from((0.0, 12.5, 100.0))
maybe_note = st.none() | st.sampled_from(("page 1", "page 2"))
maybe_delay = st.none() | st.sampled_from((0.0, 5.0))
maybe_json = st.none() | st.sampled_from(('{"page":1}', "[1.5,null]", '"é"'))
logs = st.lists(st.builds(LogLine, st.just(1.0), st.sampled_from(("one", "two"))), max_size=2)
finished_states = st.sets(st.sampled_from((State.COMPLETED, State.FAILED, State.CANCELLED)))

_options = {
    "queue": queues,
    "task": st.sampled_from(TASKS),
    "priority": st.sampled_from((0, 0, 10, -10)),
    "delay": st.sampled_from((0.0, 0.0, 0.0, 20.0)),
    "expires": st.none() | st.none() | st.sampled_from((5.0, 40.0)),
    "backoff": st.none() | st.just(Backoff(1.0, 2.0, 9.0, 0.5).text()),
    "timeout": st.none() | st.just(30.0),
    "correlation_id": st.none() | st.just("request-1"),
    "meta": st.sampled_from(({}, {"user_id": "42"})),
    "tenant": st.sampled_from((None, None, None, "ann", "bob")),
}


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """A message with an id of its own, or one with a key; either may be there already.

    One that replaces allows the most attempts, so that the job in its place never has too many.
    """
    options: dict[str, Any] = {name: draw(strategy) for name, strategy in _options.items()}
    if draw(st.booleans()):
        keyed = draw(st.sampled_from(KEYED_IDS))
        unique = draw(st.sampled_from(("unfinished", "waiting", "replace", 30.5)))
        options |= {"id": keyed, "key": draw(st.sampled_from(("x", "y"))), "unique": unique}
        options |= {"body": f'"{keyed}"'}
    else:
        options |= {"id": draw(st.sampled_from(PLAIN_IDS)), "replace": draw(st.booleans())}
        options |= {"body": draw(st.sampled_from(("1", "1", "2")))}
    replaces = options.get("replace") or options.get("unique") == "replace"
    attempts = MOST_ATTEMPTS if replaces else draw(st.integers(1, MOST_ATTEMPTS))
    return Message(**options, max_attempts=attempts)


@dataclass(frozen=True, slots=True)
class Ending:
    """A settlement before its claim is known."""

    verdict: Verdict
    result: str | None
    delay: float | None
    children: int
    percent: float | None
    note: str | None
    logs: tuple[LogLine, ...]
    stale: bool

    def of(self, job: Job, now: float) -> Settlement:
        """The settlement of this claim, or of an earlier one of the same job."""
        error = JobError(1, now, "ann", "ValueError", "no such page", "Traceback …")
        nothing_wrong = self.verdict in (Verdict.ACK, Verdict.GIVE_BACK)
        return Settlement(
            job.id,
            job.fence - self.stale,
            job.worker or "",
            job.queue,
            self.verdict,
            result=self.result if self.verdict is Verdict.ACK else None,
            error=None if nothing_wrong else error,
            delay=self.delay,
            children=tuple(
                Message(queue=job.queue, task="row", id=child_id(job.id, job.fence, "rows", index))
                for index in range(self.children)
            ),
            percent=self.percent,
            note=self.note,
            logs=self.logs,
        )


endings = st.builds(
    Ending,
    verdict=st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.EXPIRE]),
    result=maybe_json,
    delay=maybe_delay,
    children=st.sampled_from((0, 0, 1, 2)),
    percent=maybe_percent,
    note=maybe_note,
    logs=logs.map(tuple),
    stale=rarely,
)
