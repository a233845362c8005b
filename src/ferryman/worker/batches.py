"""Calls that take several jobs: gathers them from a lane, and ends each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.tasks.aio import offload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferryman.flow.failure import Failure
    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.task import Task
    from ferryman.worker.claim import Claim
    from ferryman.worker.event_loop import EventLoopThread
    from ferryman.worker.executor import Executor
    from ferryman.worker.gates import Gates
    from ferryman.worker.lane import Lane


class Batches:
    """Runs a claim together with those of its task that wait behind it, in its slot."""

    def __init__(
        self,
        executor: Executor,
        gates: Gates | None,
        loop: EventLoopThread,
        *,
        begin: Callable[[Claim, Task[..., Any], float], None],
        end: Callable[[Claim, Settlement], None],
        died: Callable[[str, BaseException], None],
    ) -> None:
        self._executor = executor
        self._gates = gates
        self._loop = loop
        self._begin = begin
        self._end = end
        self._died = died

    def start(self, first: Claim, task: Task[..., Any], lane: Lane) -> bool:
        """Run a claim that has begun, with others; whether they are over when this returns."""
        claims = [first, *self._followers(first, task, lane)]
        if task.is_async:
            for claim in claims:
                claim.on_loop = True
            self._loop.submit(lambda: self._run_async(claims, lane, task), first.running_as)
            return False
        self._finish(claims, lane, self._executor.run_batch(claims, task))
        return True

    def _followers(self, first: Claim, task: Task[..., Any], lane: Lane) -> Sequence[Claim]:
        begun: list[Claim] = []
        for claim in lane.gather(task.name, (task.limits.batch or 1) - 1):
            unfit = claim.stopping or self._executor.task_of(claim) is None
            delay = None if unfit or self._gates is None else self._gates.enter(claim)
            if unfit or delay is not None:
                self._end(claim, self._executor.give_back(claim, delay))
                lane.finished(claim)
            else:
                self._begin(claim, task, first.started or 0.0)
                begun.append(claim)
        return begun

    async def _run_async(self, claims: Sequence[Claim], lane: Lane, task: Task[..., Any]) -> None:
        try:
            ends = await self._executor.run_batch_async(claims, task)
            await offload(self._finish, claims, lane, ends)
        except BaseException as error:
            self._died("loop", error)
        finally:
            lane.finished(claims[0])

    def _finish(self, claims: Sequence[Claim], lane: Lane, ends: Sequence[Settlement]) -> None:
        told: Failure | None = None
        for claim, settlement in zip(claims, ends, strict=True):
            judged = settlement
            if self._gates is not None:
                again = told is not None and claim.failure is told
                judged = self._gates.judge(claim, settlement, again=again)
                told = claim.failure
            self._end(claim, judged)
            if claim.follows:
                lane.finished(claim)
