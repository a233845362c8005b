from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman import (
    Cancel,
    Fail,
    Ferry,
    Job,
    JobError,
    Message,
    Retry,
    Settings,
    Snooze,
    State,
    Worker,
)
from ferryman.errors import BackendRejected, BackendUnavailable
from ferryman.queue.answers import Reaped
from ferryman.queue.traced import Traced
from ferryman.telemetry.lines import FIELDS
from ferryman.telemetry.logs import EventLog
from ferryman.testing import FakeClock, wait_until
from tests.worker.faults import Line, as_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ferry(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> Iterator[Ferry]:
    caplog.set_level(logging.DEBUG, "ferryman")
    with Ferry("memory://") as ferry:
        stop = EventLog.follow(ferry.events, clock)
        yield ferry
        stop()


def job(**fields: Any) -> Job:
    given = {
        "id": "j1",
        "queue": "mail",
        "task": "send",
        "body": '{"password":"geheim"}',
        "state": State.PROCESSING,
        "priority": 0,
        "ready_at": 0.0,
        "seq": 1,
        "version": 1,
        "attempts": 2,
        "max_attempts": 5,
        "fence": 3,
        "generation": 1,
        "given_back": 0,
        "created_at": 0.0,
    }
    return Job(**{**given, **fields})


def error(text: str, kind: str = "ValueError") -> JobError:
    return JobError(2, 0.0, "w1", kind, text, "Traceback: geheim")


def ending(state: State, **facts: Any) -> dict[str, Any]:
    return {"job": job(), "state": state, "error": None, "delay": None, "worker": "w1", **facts}


def only(caplog: pytest.LogCaptureFixture) -> tuple[str, int, str]:
    (record,) = caplog.records
    return record.name, record.levelno, record.getMessage()


CLAIM = "job_id=j1 task=send queue=mail attempt=2 max_attempts=5 worker=w1"
LONG = "x" * 5_000

Wording = tuple[str, dict[str, Any], str, int, str]
WORDING: list[Wording] = [
    (
        "worker.started",
        {"worker": "w1", "queues": {"mail": 4, "crawl": 1}},
        "ferryman.worker",
        logging.INFO,
        "worker started worker=w1 queues=mail:4,crawl:1",
    ),
    (
        "worker.draining",
        {"worker": "w1", "running": 2},
        "ferryman.worker",
        logging.INFO,
        "worker is draining worker=w1 running=2",
    ),
    (
        "worker.stopped",
        {"worker": "w1", "error": None},
        "ferryman.worker",
        logging.INFO,
        "worker stopped worker=w1",
    ),
    (
        "worker.stopped",
        {"worker": "w1", "error": TimeoutError("no poll")},
        "ferryman.worker",
        logging.ERROR,
        'worker stopped worker=w1 error="TimeoutError: no poll"',
    ),
    (
        "worker.broken",
        {"loop": "leases", "error": KeyError("k")},
        "ferryman.worker",
        logging.CRITICAL,
        "worker broke down and stops loop=leases error=\"KeyError: 'k'\"",
    ),
    (
        "loop.blocked",
        {
            "worker": "w1",
            "seconds": 5.04,
            "job": job(),
            "where": "/srv/app.py:7 in send",
            "stack": f"{LONG}time.sleep(9)\n",
        },
        "ferryman.worker",
        logging.WARNING,
        'a handler blocks the event loop where="/srv/app.py:7 in send" seconds=5.0 job_id=j1 '
        f'task=send worker=w1 stack="{"x" * 886}time.sleep(9)\\n"',
    ),
    (
        "loop.freed",
        {"worker": "w1", "seconds": 7.36},
        "ferryman.worker",
        logging.INFO,
        "the event loop is free again seconds=7.4 worker=w1",
    ),
    (
        "process.started",
        {"pid": 7},
        "ferryman.worker",
        logging.DEBUG,
        "child process started pid=7",
    ),
    (
        "process.ended",
        {"pid": 7, "why": "recycled", "code": None},
        "ferryman.worker",
        logging.DEBUG,
        "child process ended pid=7 why=recycled",
    ),
    (
        "process.ended",
        {"pid": 7, "why": "crashed", "code": -11},
        "ferryman.worker",
        logging.WARNING,
        "child process ended pid=7 why=crashed code=-11",
    ),
    (
        "job.pushed",
        {
            "message": Message.of("mail", "send", {"password": "geheim"}),
            "id": "j1",
            "created": True,
        },
        "ferryman.jobs",
        logging.DEBUG,
        "job pushed job_id=j1 task=send queue=mail",
    ),
    (
        "job.started",
        {"job": job(), "worker": "w1"},
        "ferryman.jobs",
        logging.DEBUG,
        f"job started {CLAIM}",
    ),
    (
        "job.completed",
        ending(State.COMPLETED),
        "ferryman.jobs",
        logging.INFO,
        f"job completed {CLAIM}",
    ),
    (
        "job.retried",
        ending(State.PENDING, error=error("ValueError: no\n\x1b[31m"), delay=4.0),
        "ferryman.jobs",
        logging.WARNING,
        f'job will be retried {CLAIM} error="ValueError: no\\n\\x1b[31m" delay=4.0',
    ),
    (
        "job.retried",
        ending(State.PENDING, error=error("ran longer than its timeout of 1 s", "timeout")),
        "ferryman.jobs",
        logging.WARNING,
        f'job will be retried {CLAIM} error="ran longer than its timeout of 1 s"',
    ),
    (
        "job.returned",
        ending(State.PENDING, delay=60.0),
        "ferryman.jobs",
        logging.INFO,
        f"job given back {CLAIM} delay=60.0",
    ),
    (
        "job.returned",
        ending(State.PENDING, error=error("no handler for task 'send'", "unknown_task"), delay=10),
        "ferryman.jobs",
        logging.WARNING,
        f"job given back {CLAIM} error=\"no handler for task 'send'\" delay=10",
    ),
    (
        "job.failed",
        ending(State.FAILED, error=error("postgresql://u:geheim@h/d is down"), delay=4.0),
        "ferryman.jobs",
        logging.ERROR,
        f'job failed {CLAIM} error="postgresql://u:***@h/d is down"',
    ),
    (
        "job.failed",
        ending(State.FAILED, error=error(LONG)),
        "ferryman.jobs",
        logging.ERROR,
        f"job failed {CLAIM} error={'x' * 499}…",
    ),
    (
        "job.cancelled",
        ending(State.CANCELLED),
        "ferryman.jobs",
        logging.INFO,
        f"job cancelled {CLAIM}",
    ),
    ("job.paused", ending(State.PAUSED), "ferryman.jobs", logging.INFO, f"job paused {CLAIM}"),
    (
        "job.lost",
        {"job": job(), "worker": "w1"},
        "ferryman.jobs",
        logging.WARNING,
        f"lease lost, nothing was recorded {CLAIM}",
    ),
    (
        "job.timed_out",
        {"job": job(), "worker": "w1", "seconds": 30.0},
        "ferryman.jobs",
        logging.WARNING,
        f"job ran over its timeout {CLAIM} timeout=30.0",
    ),
    (
        "job.reaped",
        {"reaped": Reaped("j1", "mail", "send", State.PENDING, "w0"), "worker": "w1"},
        "ferryman.jobs",
        logging.WARNING,
        "expired lease reaped job_id=j1 task=send queue=mail state=pending held_by=w0 worker=w1",
    ),
    (
        "job.reaped",
        {"reaped": Reaped("j1", "mail", "send", State.FAILED, "w0"), "worker": "w1"},
        "ferryman.jobs",
        logging.ERROR,
        "expired lease reaped job_id=j1 task=send queue=mail state=failed held_by=w0 worker=w1",
    ),
    (
        "job.reaped",
        {"reaped": Reaped("j1", "mail", "send", State.CANCELLED, None), "worker": "w1"},
        "ferryman.jobs",
        logging.INFO,
        "job expired before it started job_id=j1 task=send queue=mail state=cancelled worker=w1",
    ),
    (
        "backend.unavailable",
        {"loop": "poller", "error": BackendUnavailable("cut"), "retry_in": 0.1},
        "ferryman.backend",
        logging.WARNING,
        'store unavailable, trying again loop=poller error="BackendUnavailable: cut"',
    ),
    (
        "history.pruned",
        {"count": 7},
        "ferryman.backend",
        logging.INFO,
        "history pruned count=7",
    ),
    (
        "queue.deep",
        {"queue": "mail", "depth": 80, "warn_depth": 80},
        "ferryman.backend",
        logging.WARNING,
        "a queue has become deep queue=mail warn_depth=80",
    ),
    (
        "schedule.pushed",
        {"schedule": "nightly", "slot": 0.0, "id": "schedule:nightly:1970"},
        "ferryman.worker",
        logging.INFO,
        "slot pushed schedule=nightly job_id=schedule:nightly:1970",
    ),
    (
        "schedule.unreadable",
        {"schedule": "nightly", "error": BackendRejected("of the future")},
        "ferryman.worker",
        logging.WARNING,
        'schedule cannot be read here schedule=nightly error="BackendRejected: of the future"',
    ),
    (
        "breaker.opened",
        {"breaker": "gemini", "failures": 5, "until": 9.0, "problem": "OSError: 503"},
        "ferryman.jobs",
        logging.WARNING,
        'breaker opened breaker=gemini failures=5 error="OSError: 503"',
    ),
    (
        "breaker.closed",
        {"breaker": "gemini"},
        "ferryman.jobs",
        logging.INFO,
        "breaker closed breaker=gemini",
    ),
]


@pytest.mark.parametrize("wording", WORDING, ids=[wording[0] for wording in WORDING])
def test_each_event_has_its_logger_level_and_words(
    ferry: Ferry, caplog: pytest.LogCaptureFixture, wording: Wording
) -> None:
    name, facts, logger, level, line = wording
    ferry.events.emit(name, **facts)
    assert only(caplog) == (logger, level, line)
    assert "geheim" not in caplog.text
    fields = getattr(caplog.records[0], FIELDS)
    assert fields["event"] == name
    assert line.startswith(fields["text"])


def test_every_event_that_the_engine_emits_has_words() -> None:
    emitted = set()
    for source in SOURCES.rglob("*.py"):
        emitted |= set(re.findall(r'emit\(\s*"([a-z]+\.[a-z_]+)"', source.read_text()))
    named = set(
        re.findall(
            r'"((?:job|worker|loop|process|backend|history|breaker|queue|schedule|sync)\.[a-z_]+)":',
            _source(),
        )
    )
    assert emitted - named == set()


def _source() -> str:
    return (SOURCES / "ferryman" / "telemetry" / "logs.py").read_text()


def test_an_end_says_how_long_the_handler_ran(
    ferry: Ferry, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    ferry.events.emit("job.started", job=job(), worker="w1")
    clock.advance(1.5)
    ferry.events.emit("job.completed", **ending(State.COMPLETED))
    assert caplog.records[-1].getMessage() == f"job completed {CLAIM} seconds=1.5"


def test_an_outage_is_one_warning_and_one_line_when_it_is_over(
    ferry: Ferry, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(50):
        ferry.events.emit("backend.call", verb="poll", seconds=0, size=1, error="OutcomeUnknown")
        ferry.events.emit(
            "backend.unavailable", loop="poller", error=BackendUnavailable("cut"), retry_in=1
        )
    clock.advance(12)
    for _ in range(3):
        ferry.events.emit("backend.call", verb="poll", seconds=0, size=1, error=None)
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        (
            "WARNING",
            'store unavailable, trying again loop=poller error="BackendUnavailable: cut"',
        ),
        ("INFO", "store available again verb=poll seconds=12.0"),
    ]


def test_a_real_outage_is_logged_once_and_its_end_too(
    ferry: Ferry, caplog: pytest.LogCaptureFixture
) -> None:
    line = Line(ferry.backend)
    failures: list[object] = []
    ferry.events.subscribe("backend.unavailable", failures.append)
    worker = Worker(
        Traced(as_backend(line), ferry.events),
        ferry.tasks,
        {"mail": 1},
        events=ferry.events,
        settings=Settings(drain=1, reap_every=0.02, poll_every=0.02),
    )
    worker.start()
    line.down = True
    wait_until(lambda: len(failures) > 5, what="failures of several loops")
    line.down = False
    wait_until(lambda: "store available again" in caplog.text, what="the recovery")
    worker.join()
    said = [r.getMessage() for r in caplog.records if r.name == "ferryman.backend"]
    assert [text.partition(" loop")[0].partition(" verb")[0] for text in said] == [
        "store unavailable, trying again",
        "store available again",
    ]


def test_a_real_worker_is_logged_from_its_start_to_its_end(
    ferry: Ferry, caplog: pytest.LogCaptureFixture
) -> None:
    said = {
        "fail": Fail("no"),
        "cancel": Cancel("no"),
        "snooze": Snooze(60),
        "retry": Retry(after=60),
    }

    @ferry.task(queue="mail")
    def speak(word: str) -> None:
        if word in said:
            raise said[word]

    for word in ("done", *said):
        speak.push(word)
    worker = ferry.worker({"mail": 1}, Settings(drain=1))
    worker.start()
    wait_until(lambda: sum("seconds=" in r.getMessage() for r in caplog.records) == 5)
    worker.join()
    texts = [getattr(record, FIELDS)["text"] for record in caplog.records]
    for text in (
        "worker started",
        "job pushed",
        "job started",
        "job completed",
        "job failed",
        "job cancelled",
        "job given back",
        "job will be retried",
        "worker is draining",
        "worker stopped",
    ):
        assert text in texts
