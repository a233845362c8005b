"""What runs in a child process: one job at a time, told and reported over a wire.

Handlers run in the main thread, under the same `Executor` and `Claim` as in a worker.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import traceback
from importlib import import_module
from multiprocessing import spawn
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from ferryman import errors
from ferryman.errors import BackendError, FerrymanError, TaskError, Unsupported
from ferryman.lifecycle import Verdict
from ferryman.tasks.task import Task
from ferryman.tasks.tasks import Tasks
from ferryman.worker.claim import Claim
from ferryman.worker.executor import MAX_TRACEBACK
from ferryman.worker.parent import STOP_SIGNALS, become_child, end_with_parent
from ferryman.worker.traced_executor import executor_for
from ferryman.worker.wire import Wire, job_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job, LogLine
    from ferryman.queue.settlement import Receipt, Settlement

REPORT_EVERY: Final = 0.05
"""Seconds between two reports, so that a busy `job.progress` does not keep the worker busy."""

Message = dict[str, Any]


def main(fd: int, parent: int) -> None:
    """Serve the worker at the other end of this socket until it hangs up."""
    end_with_parent(parent, signal.SIGKILL)
    for number in STOP_SIGNALS:
        # The worker decides when to stop. Not SIG_IGN, which handlers' own children would inherit.
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    become_child()
    os.set_inheritable(fd, False)
    Child(Wire(socket.socket(fileno=fd))).serve()


class Child:
    """Takes orders from the wire: `boot` once, then `run` again and again."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._orders: SimpleQueue[Message | None] = SimpleQueue()
        self._held: Held | None = None
        self._tasks: dict[str, Task[..., Any]] = {}
        self._trouble: BaseException | None = None
        self._jobs = 0

    def serve(self) -> None:
        threading.Thread(target=self._listen, name="ferryman-wire", daemon=True).start()
        while (order := self._orders.get()) is not None:
            if order["say"] == "boot":
                self._boot(order)
            else:
                self._run(order)

    def _listen(self) -> None:
        while (message := self._wire.receive()) is not None:
            held = self._held
            match message["say"]:
                case "run":
                    # Here and not in the main thread: a stop may follow at once.
                    self._held = Held(job_from_json(message["job"]), self._wire)
                    self._orders.put(message)
                case "boot":
                    self._orders.put(message)
                case "stop" if held is not None:
                    held.claim.stop(message["reason"])
                case "answer" if held is not None:
                    held.answers.put(message)
        if self._held is not None:
            os._exit(1)  # nobody is left who could record how it ends
        self._orders.put(None)

    def _boot(self, order: Message) -> None:
        try:
            spawn.prepare(order["prepare"])
            if order["app"] is not None:
                target, url = order["app"]
                module, _, attribute = target.partition(":")
                ferry = attrgetter(attribute)(import_module(module))
                if ferry.url != url:
                    ferry.switch(url)
        except BaseException as error:
            self._trouble = error

    def _run(self, order: Message) -> None:
        held = self._held
        if held is None:
            raise RuntimeError("an order to run comes with its claim")
        try:
            task = self._task(order)
        except BaseException as error:
            # What importing failed for may have passed when the next child tries.
            end, last = _not_begun(error), True
        else:
            tasks = Tasks()
            tasks.passage = held
            executor = executor_for(tasks, held.claim.job.worker or "", task.tracing)
            end = _ended(executor.run(held.claim, task))
            failure = held.claim.failure
            end["failure"] = None if failure is None else failure.to_json()
            self._jobs += 1
            last = task.process is not None and task.process.used_up(self._jobs, resident_mib)
        self._held = None
        held.close({**end, "last": last})

    def _task(self, order: Message) -> Task[..., Any]:
        name = order["task"]
        if name not in self._tasks:
            if self._trouble is not None:
                raise self._trouble
            self._tasks[name] = find_task(name, order["module"], order["qualname"])
            self._wire.send("began")
        return self._tasks[name]


class Held:
    """The claim on the job that runs, the three verbs of a `LeaseKeeper` that it needs, and the
    `Flow` that it follows: what is yielded goes to the worker, which does all the rest."""

    def __init__(self, job: Job, wire: Wire) -> None:
        self.answers: SimpleQueue[Message] = SimpleQueue()
        self.claim = Claim(job, self, 0.0)
        self._wire = wire
        self._saving = threading.Lock()
        # Over take and send, so that reports arrive in order and none after the end.
        self._reporting = threading.Lock()
        self._reporter: threading.Thread | None = None
        self._news = threading.Event()
        self._over = False
        self._count = 0

    def now(self) -> float:
        return time.time()

    def report_soon(self) -> None:
        self._news.set()
        if self._reporter is None:
            self._reporter = threading.Thread(
                target=self._report, name="ferryman-reports", daemon=True
            )
            self._reporter.start()

    def beat_one(self, claim: Claim, checkpoint: str) -> bool:
        with self._saving:
            with self._reporting:
                report = _report(*claim.take_report())
                self._wire.send("checkpoint", checkpoint=checkpoint, **report)
            return self._answered()

    def settle_within(self, connection: object, claim: Claim, settlement: Settlement) -> Receipt:
        raise Unsupported(
            f"job {settlement.job_id!r} runs in a child process, which does not hold its lease: "
            "job.ack(connection=…) needs executor='thread'"
        )

    def knows(self, job: Job) -> bool:
        return True

    def feeds(self, task: str) -> tuple[()]:
        return ()

    def payload(self, job: Job) -> Any:
        return job.payload

    def follow(self, held: object, value: Any) -> tuple[()]:
        return ()

    def spread(self, held: object) -> Held:
        return self

    def add(self, items: Sequence[Any]) -> None:
        with self._saving:
            with self._reporting:
                self._wire.send("items", items=items)
            self._answered()
        self._count += len(items)
        self.claim.safe_point()

    def end(self) -> tuple[int, tuple[()]]:
        self.add(())
        return self._count, ()

    def _answered(self) -> bool:
        answer = self.answers.get()
        if answer["stop"] is not None:
            self.claim.stop(answer["stop"])
        if answer["error"] is not None:
            raise _rebuilt(*answer["error"])
        return bool(answer["held"])

    def close(self, end: Message) -> None:
        with self._reporting:
            self._over = True
            self._wire.send("end", **end)
        self._news.set()

    def _report(self) -> None:
        while not self._over:
            self._news.wait()
            self._news.clear()
            with self._reporting:
                if not self._over:
                    self._wire.send("report", **_report(*self.claim.take_report()))
            time.sleep(REPORT_EVERY)


def find_task(name: str, module_name: str, qualname: str) -> Task[..., Any]:
    """The task of that name: under its handler's own name, or anywhere at the module's top."""
    module = import_module(module_name)
    try:
        found = attrgetter(qualname)(module)
    except AttributeError:
        found = None
    for candidate in (found, *vars(module).values()):
        if isinstance(candidate, Task) and candidate.name == name:
            return candidate
    raise TaskError(
        f"a child process imported {module_name!r} and found no task {name!r} in it: "
        "declare it at the top of the module, not under a condition"
    )


def resident_mib() -> float:
    """How much of this process is in RAM; where that cannot be read, the most that ever was."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20 if os.uname().sysname == "Darwin" else 1 << 10)
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _ended(settlement: Settlement) -> Message:
    error = settlement.error
    return {
        "verdict": settlement.verdict,
        "result": settlement.result,
        "error": None if error is None else _error(error.kind, error.text, error.traceback),
        "delay": settlement.delay,
        **_report(settlement.percent, settlement.note, settlement.logs),
    }


def _report(percent: float | None, note: str | None, logs: tuple[LogLine, ...]) -> Message:
    return {"percent": percent, "note": note, "logs": [line.text for line in logs]}


def _not_begun(error: BaseException) -> Message:
    """Charged, and tried again by the job's own backoff: the task's rules could not be read."""
    text = "".join(traceback.format_exception_only(error)).strip()
    trace = "".join(traceback.format_exception(error))[-MAX_TRACEBACK:]
    told = {"error": _error(type(error).__name__, text, trace), "result": None, "delay": None}
    return {"verdict": Verdict.NACK, **told, **_report(None, None, ())}


def _error(kind: str, text: str, trace: str | None) -> Message:
    return {"kind": kind, "text": text, "traceback": trace}


def _rebuilt(kind: str, text: str) -> FerrymanError:
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, BackendError):
        return known(text)
    return FerrymanError(f"{kind}: {text}")
