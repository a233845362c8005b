"""Runs one pipeline to its end, worker after worker dying on the way, and looks at what is left."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from chaos.dags.dag import Dag, Node, Refused, canonical
from chaos.dags.mortal import Died, Mortal
from ferryman import Fail, Ferry, Retry, collect
from ferryman.filter import Filter
from ferryman.job import State
from ferryman.tasks.passage import is_errand
from ferryman.testing import FakeClock
from ferryman.worker.executor import Executor
from ferryman.worker.leases import LeaseKeeper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.job import Job
    from ferryman.queue.settlement import Settlement
    from ferryman.queue.traced import Traced

LEASE = 10.0
TURNS = 2_000


class World:
    """A Ferry with the stages of a dag, in a store that others may have used before."""

    def __init__(self, dag: Dag, url: str, deaths: Sequence[int], name: str = "dag") -> None:
        self.clock = FakeClock()
        self.ferry = Ferry(url, clock=self.clock, lease=LEASE)
        self.ferry.pipelines.at_once = 2
        self._dag = dag
        self._name = name
        self._late: list[Settlement] = []
        self._lives = 0
        self.deaths = 0
        _ = self.ferry.backend
        self._store = cast("Traced", self.ferry._backend)
        self.mortal = Mortal(self._store, deaths)
        for node in dag.nodes:
            self.ferry.task(name=node.name, queue=f"{name}-{len(node.after)}", retry=_PATIENT)(
                _handler(node)
            )
        self.pipeline = self.ferry.pipeline(name, *_route(dag, self.ferry))

    def run(self) -> list[str]:
        """What is wrong with how it ended; nothing if all is well."""
        run = self.pipeline.push("start")
        self.ferry._backend = cast("Traced", self.mortal)
        for _ in range(TURNS):
            if not self._live():
                if not self._unfinished(run.id):
                    break
                self.clock.advance(1.0)
        self.ferry._backend = self._store
        for pause in (120.0, 4_000.0):
            self.clock.advance(pause)
            while self._live():
                pass
        return self._findings(run.id)

    def _live(self) -> bool:
        """One worker's life, until nothing is due or it dies; whether it did anything."""
        self._lives += 1
        busy = False
        keeper = LeaseKeeper(
            self.ferry.backend, f"w{self._lives}", lease=LEASE, events=self.ferry.events, died=print
        )
        executor = Executor(self.ferry.tasks, keeper.worker)
        queues = dict.fromkeys(sorted({task.options.queue for task in self.ferry.tasks}), 2)
        try:
            while claims := keeper.poll(queues):
                busy = True
                for claim in claims:
                    task = executor.task_of(claim)
                    assert task is not None  # noqa: S101 - every stage is declared here
                    settlement = executor.run(claim, task)
                    if self.mortal.dead:
                        self._late.append(settlement)
                    self.ferry.backend.settle([settlement])
        except Died:
            self._bury()
            return True
        return busy

    def _bury(self) -> None:
        """The leases of the dead run out; what it had still wanted to say comes too late."""
        self.deaths += 1
        self.mortal.revive()
        self.clock.advance(LEASE + 1)
        while self._store.reap():
            pass
        late, self._late = self._late, []
        for settlement in late:
            self._store.settle([settlement])

    def _unfinished(self, run: str) -> bool:
        stages = {node.name for node in self._dag.nodes}
        unfinished = {State.PENDING, State.PROCESSING, State.PAUSED}
        return any(
            job.state in unfinished and job.meta["stage"] in stages for job in self._jobs(run)
        )

    def _jobs(self, run: str) -> Sequence[Job]:
        return self._store.list(Filter.parse(f'meta.run:"{run}"'), limit=5_000).jobs

    def _findings(self, run: str) -> list[str]:
        jobs = self._jobs(run)
        ours = [job for job in jobs if not is_errand(job.task)]
        found = Counter((j.task, j.result or "null") for j in ours if j.state is State.COMPLETED)
        expected = self._dag.expected() or Counter()
        findings = [f"{n} of {end} too many" for end, n in (found - expected).items()]
        findings += [f"{n} of {end} missing" for end, n in (expected - found).items()]
        findings += [
            f"{job.task} {job.id} is {job.state}: {job.error}"
            for job in jobs
            if job.state not in (State.COMPLETED, State.FAILED)
            or (job.state is State.FAILED and "refused" not in (job.error or ""))
        ]
        return findings


_PATIENT = Retry(1_000, base=0, jitter=0)


def _handler(node: Node) -> Any:
    def work(payload: Any) -> Any:
        given = canonical(payload) if node.collects is not None else payload
        try:
            answer = node.answer(given)
        except Refused:
            raise Fail("refused") from None
        return iter(answer) if node.says == "generator" else answer

    if node.collects is not None:
        work.__annotations__["payload"] = list
    return work


def _route(dag: Dag, ferry: Ferry) -> list[Any]:
    parts: list[Any] = [dag.nodes[0].name]
    for node in dag.nodes[1:]:
        stage: Any = node.name
        if node.collects is not None:
            stage = collect(node.name, failed=cast("Any", node.collects))
        task = cast("Any", ferry.tasks.get(node.name))
        parts += [
            [dag.nodes[each].name for each in node.after] >> (task if stage is node.name else stage)
        ]
    return parts


def told(dag: Dag, deaths: Sequence[int], findings: Sequence[str]) -> str:
    """A failure in words, with all that is needed to see it again."""
    nodes = [vars(node) for node in dag.nodes]
    return "\n".join([*findings, json.dumps(nodes), f"deaths={list(deaths)}"])
