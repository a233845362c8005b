"""The child processes of a worker: kept warm, replaced when they are used up, killed or crash."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import LeaseLost
from ferryman.flow.failure import Failure
from ferryman.lifecycle import Verdict
from ferryman.worker.child_process import ChildProcess, how_it_ended
from ferryman.worker.claim import Stopped
from ferryman.worker.kept import Kept
from ferryman.worker.loop import Loop
from ferryman.worker.parent import STOP_SIGNALS
from ferryman.worker.wire import job_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferryman.clock import Clock
    from ferryman.events import Events
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.passage import Spread
    from ferryman.tasks.task import Task
    from ferryman.worker.claim import Claim
    from ferryman.worker.executor import Executor

EVERY: Final = 0.1
"""Seconds between two looks at the children while one of them runs a job."""
BOOT: Final = 60.0
"""Seconds that a child may take to start and import a task, beside the job's timeout."""


class Processes(Loop):
    """Runs claims in children, one at a time in each; a lane's thread waits for its child.

    The loop starts the children, because the kernel ends a child together with the thread that
    started it, and lanes' threads come and go. It also passes on stops that were asked.
    """

    name = "processes"

    def __init__(
        self,
        executor: Executor,
        app: tuple[str, str] | None,
        clock: Clock,
        events: Events,
        died: Callable[[str, BaseException], None],
    ) -> None:
        super().__init__(events, died)
        self._executor = executor
        self._app = app
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[ChildProcess] = []
        self._busy: dict[Claim, ChildProcess] = {}
        self._leaving: list[ChildProcess] = []
        self._wanted: deque[Future[ChildProcess]] = deque()
        self._begun = False
        self._closed = False
        self._asleep = False

    def run(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        """Run a claim in a child and wait for its end, whatever that is."""
        try:
            child = self._take(task)
        except OSError as error:
            why = f"no child process could be started: {error}"
            return self._executor.postponed(claim, ("no_process", why))
        if not self._occupy(claim, child):
            return self._executor.give_back(claim)
        if task.name not in child.tasks and claim.deadline is not None:
            claim.deadline += BOOT
        items = Items(claim, self._executor)
        try:
            job = {**job_to_json(claim.job), "body": json.dumps(self._executor.payload_of(claim))}
        except BaseException as error:
            with self._lock:
                del self._busy[claim]
            self._release(child, last=False)
            return self._executor.raised(claim, task, error)
        child.order(
            task=task.name,
            module=task.handler.__module__,
            qualname=task.handler.__qualname__,
            job=job,
        )
        end = self._converse(claim, task, child, items)
        with self._lock:
            del self._busy[claim]
        if end is None:
            return self._buried(claim, child)
        self._release(child, last=end["last"])
        return self._settled(claim, task, end, items)

    def kill(self, claim: Claim) -> None:
        """End the child that runs this claim, if one does. Its job is then not charged by us."""
        with self._lock:
            child = self._busy.get(claim)
            if child is not None:
                child.kill()

    def close(self) -> None:
        """End all children; a claim that still runs is given back."""
        with self._lock:
            self._closed = True
            children = [*self._idle, *self._leaving]
            self._idle.clear()
            self._leaving.clear()
            for child in self._busy.values():
                child.kill()
            for child in children:
                child.dismiss()
        patience = self._clock.monotonic() + 1.0
        for child in children:
            if not child.has_left(max(0.0, patience - self._clock.monotonic())):
                child.kill()
                child.bury()
            self._tell_end(child, "closed")
        # Last, because it takes what is left of its children along.
        self.stop(1.0)
        with self._lock:
            self._refuse_wanted()

    # -- the loop

    def turn(self) -> float:
        self._spawn_wanted()
        with self._lock:
            for claim, child in self._busy.items():
                child.pass_on(claim)
                child.notice_death()
            gone = [child for child in self._leaving if child.has_left()]
            for child in gone:
                self._leaving.remove(child)
            self._asleep = not (self._busy or self._leaving or self._wanted)
        for child in gone:
            self._tell_end(child, "recycled")
        return 60.0 if self._asleep else EVERY

    def _spawn_wanted(self) -> None:
        while self._wanted and not self._closed:
            future = self._wanted.popleft()
            # Inherited: a child is deaf to these until it can hear and ignore them.
            signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
            try:
                child = ChildProcess(self._app)
            except Exception as error:
                future.set_exception(error)
            else:
                self._events.emit("process.started", pid=child.pid)
                future.set_result(child)

    def _refuse_wanted(self) -> None:
        while self._wanted:
            self._wanted.popleft().set_exception(OSError("the worker is closing"))

    # -- children

    def _take(self, task: Task[..., Any]) -> ChildProcess:
        """A warm child, best one that has imported this task; else a new one."""
        while (child := self._pick(task)) is not None:
            if child.alive:
                return child
            self._tell_end(child, "crashed", child.bury())
        future: Future[ChildProcess] = Future()
        with self._lock:
            self._wanted.append(future)
            if self._closed:
                self._refuse_wanted()
            elif not self._begun:
                self._begun = True
                self.start()
        self.wake()
        return future.result()

    def _pick(self, task: Task[..., Any]) -> ChildProcess | None:
        with self._lock:
            knows = [child for child in self._idle if task.name in child.tasks]
            if not self._idle:
                return None
            child = (knows or self._idle)[-1]
            self._idle.remove(child)
            return child

    def _occupy(self, claim: Claim, child: ChildProcess) -> bool:
        """Whether the claim is still to be run. A kill finds its child from here on."""
        with self._lock:
            if self._closed:
                child.kill()
                child.bury()
            elif claim.ended:
                self._idle.append(child)
            else:
                self._busy[claim] = child
                if self._asleep:
                    self._asleep = False
                    self.wake()
            return claim in self._busy

    def _release(self, child: ChildProcess, *, last: bool) -> None:
        with self._lock:
            if self._closed or child.doomed:
                child.kill()
                child.bury()
            elif last:
                child.dismiss()
                self._leaving.append(child)
            else:
                self._idle.append(child)

    def _buried(self, claim: Claim, child: ChildProcess) -> Settlement:
        code = child.bury()
        self._tell_end(child, "killed" if child.doomed else "crashed", code)
        if child.doomed:
            return self._executor.give_back(claim)
        return self._executor.crashed(claim, how_it_ended(code))

    def _tell_end(self, child: ChildProcess, why: str, code: int | None = None) -> None:
        self._events.emit("process.ended", pid=child.pid, why=why, code=code)

    # -- one job

    def _converse(
        self, claim: Claim, task: Task[..., Any], child: ChildProcess, items: Items
    ) -> Mapping[str, Any] | None:
        """Hear the child out; how its job ended, or None if it ended itself."""
        while (message := child.hear()) is not None:
            match message["say"]:
                case "began":
                    child.tasks.add(task.name)
                    self._began(claim)
                case "report":
                    _take_report(claim, message)
                case "checkpoint":
                    child.tell("answer", **_answer(claim, message))
                case "items":
                    child.tell("answer", **items.take(message))
                case "end":
                    return message
        return None

    def _began(self, claim: Claim) -> None:
        """The timeout is for the handler, not for starting Python."""
        now = self._clock.monotonic()
        if claim.deadline is not None and claim.started is not None:
            claim.deadline += now - claim.started - BOOT
        claim.started = now

    def _settled(
        self, claim: Claim, task: Task[..., Any], end: Mapping[str, Any], items: Items
    ) -> Settlement:
        _take_report(claim, end)
        claim.failure = Failure.from_json(end.get("failure"))
        error = end["error"]
        if items.trouble is not None:
            return self._executor.raised(claim, task, items.trouble)
        return self._executor.reported(
            claim,
            Verdict(end["verdict"]),
            result=end["result"],
            error=None if error is None else (error["kind"], error["text"]),
            delay=end["delay"],
            trace=None if error is None else error["traceback"],
            task=task,
            spread=items.spread,
        )


class Items:
    """What a handler in a child yields, staged here, where its lease is held."""

    def __init__(self, claim: Claim, executor: Executor) -> None:
        self.spread: Spread | None = None
        self.trouble: BaseException | None = None
        self._claim = claim
        self._executor = executor

    def take(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Stage a chunk; what the child shall do next."""
        failure = None
        try:
            self.spread = self.spread or self._executor.spread(self._claim)
            if self.spread is not None:
                self.spread.add(message["items"])
        except BaseException as error:
            self.trouble = error
            failure = (type(error).__name__, str(error))
        return {"held": True, "error": failure, "stop": self._claim.stop_reason}


def _take_report(claim: Claim, message: Mapping[str, Any]) -> None:
    if message["percent"] is not None:
        # A stop that was asked is for the handler's thread, which is not this one.
        with contextlib.suppress(Stopped):
            claim.progress(message["percent"], message["note"])
    for text in message["logs"]:
        claim.log(text)


def _answer(claim: Claim, message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Store a checkpoint; what `job.checkpoint` shall do in the child."""
    _take_report(claim, message)
    held, failure = True, None
    try:
        claim.save(Kept.read(message["checkpoint"]))
    except Stopped:
        pass  # stored; the child learns of the stop with this answer
    except LeaseLost:
        held = False
    except Exception as error:
        failure = (type(error).__name__, str(error))
    return {"held": held, "error": failure, "stop": claim.stop_reason}
