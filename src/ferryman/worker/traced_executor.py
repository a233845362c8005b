"""An executor whose handlers run inside spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferryman.worker.executor import Executor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.queue.settlement import Settlement
    from ferryman.tasks.task import Task
    from ferryman.tasks.tasks import Tasks
    from ferryman.tasks.tracing import Tracing
    from ferryman.worker.claim import Claim


def executor_for(tasks: Tasks, worker: str, tracing: Tracing | None) -> Executor:
    """A plain executor, unless somebody traces: those who do not pay nothing."""
    return Executor(tasks, worker) if tracing is None else TracedExecutor(tasks, worker, tracing)


class TracedExecutor(Executor):
    """One span for each attempt; a call that takes several jobs is one span too."""

    def __init__(self, tasks: Tasks, worker: str, tracing: Tracing) -> None:
        super().__init__(tasks, worker)
        self._tracing = tracing

    def run(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        with self._tracing.processing([claim.job]) as ended:
            settlement = super().run(claim, task)
            ended([settlement])
        return settlement

    async def run_async(self, claim: Claim, task: Task[..., Any]) -> Settlement:
        with self._tracing.processing([claim.job]) as ended:
            settlement = await super().run_async(claim, task)
            ended([settlement])
        return settlement

    def run_batch(self, claims: Sequence[Claim], task: Task[..., Any]) -> Sequence[Settlement]:
        with self._tracing.processing([claim.job for claim in claims]) as ended:
            settlements = super().run_batch(claims, task)
            ended(settlements)
        return settlements

    async def run_batch_async(
        self, claims: Sequence[Claim], task: Task[..., Any]
    ) -> Sequence[Settlement]:
        with self._tracing.processing([claim.job for claim in claims]) as ended:
            settlements = await super().run_batch_async(claims, task)
            ended(settlements)
        return settlements
