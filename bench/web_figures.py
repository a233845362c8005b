"""What is measured of the HTTP API and the dashboard, over one very large store."""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from bench import gates
from bench.crowd import QUEUES, RARE, WORKERS
from bench.measure import percentile
from bench.result import Pair
from bench.visitor import target
from bench.web_app import PACED
from bench.web_load import Load
from bench.web_pages import Browser, pages, run_pages
from bench.web_site import PACE, serving, work_beside
from bench.web_tab import Tab
from ferryman import Ferry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bench.visitor import Visitor
    from bench.web_pages import Ask
    from bench.web_site import Site
    from bench.workloads import Sizes

QUEUE: Final = QUEUES[0]
UP: Final = (1.5, 2.0, 3.0, 4.0, 6.0)
DOWN: Final = (0.75, 0.5, 0.25)
RUNS: Final = 5
GROWN: Final = 2.0
"""Seconds of pushes by which the paced queue may have grown: more is not keeping pace."""


def figures(
    url: str, sizes: Sizes, tell: Callable[[str], object], parts: Iterable[str] = ()
) -> Iterator[Pair]:
    """The figures of one store, told as they come; of some `PARTS` only, if named."""
    with serving(url) as site:
        for part in parts or PARTS:
            for pair in PARTS[part](site, sizes):
                tell(f"{pair.workload}: {pair.ours:.4g}")
                yield pair


def page_times(site: Site, sizes: Sizes) -> Iterator[Pair]:
    """How long until all that a page asks on opening is answered."""
    visitor = site.visitor()
    browser = Browser(visitor)
    for name, asks in pages(QUEUE, _sample(visitor, sizes)[0]).items():
        times = _timed(sizes.rounds, lambda asks=asks: browser.open(asks))  # type: ignore[misc]
        yield Pair(gates.page(name), percentile(times, 0.95), None)
    browser.close()
    visitor.close()


def list_times(site: Site, sizes: Sizes) -> Iterator[Pair]:
    """Lists by what has an index: the first page, the one after it, and the counts by state."""
    visitor = site.reader()
    number = sizes.finished // 20 * 10
    wheres = (
        "id:" + _sample(visitor, sizes)[0],
        "",
        *(f"state:{state}" for state in ("completed", "failed", "pending", "processing")),
        f"queue:{QUEUE}",
        f"queue:{RARE}",
        f"task:{QUEUE}.send",
        f"task:{RARE}.send",
        f"queue:{QUEUE} task:{QUEUE}.send",
        f"queue:{QUEUE} state:failed",
        f"queue:{RARE} state:pending",
        f"key:order-{number}",
        f"correlation_id:request-{number // 10}",
        "meta.user_id:u7",
        "state:failed finished:<1d",
        "age:<30m",
        f"worker:{WORKERS[0]} state:processing",
    )
    for where in wheres:
        first = visitor.get(target("jobs", where=where))
        asks = [target("jobs", where=where), target("jobs/counts", where=where)]
        if first["next"] is not None:
            asks.append(target("jobs", where=where, after=first["next"]))
        times = [
            _timed(sizes.rounds, lambda ask=ask: visitor.fetch(ask))  # type: ignore[misc]
            for ask in asks
        ]
        slowest = max(percentile(one, 0.95) for one in times)
        yield Pair(gates.listed(_label(where)), slowest, None)
    visitor.close()


def _label(where: str) -> str:
    """The filter, or only its field where the value is another one each time."""
    field = where.partition(":")[0]
    return field if field in ("id", "key", "correlation_id", "worker") else where or "everything"


def scan_times(site: Site, sizes: Sizes) -> Iterator[Pair]:
    """Filters without an index: they end in time and say how far they got."""
    visitor = site.reader()
    for where in ("payload.email:nobody@example.com", f"worker:{WORKERS[0]} age:>20d"):
        answers: list[Any] = []
        times = _timed(
            3,
            lambda where=where, answers=answers: answers.append(  # type: ignore[misc]
                visitor.get(target("jobs", where=where))
            ),
        )
        if not answers[-1]["complete"] and not answers[-1]["scanned"]:
            raise RuntimeError(f"{where}: the search does not say how far it got")
        yield Pair(gates.scanned(where.partition(":")[0]), max(times), None)
        yield Pair(gates.looked_at(where.partition(":")[0]), answers[-1]["scanned"], None)
    visitor.close()


def tab_questions(site: Site, sizes: Sizes) -> Iterator[Pair]:
    """What one open tab makes the server ask its store."""
    visitor = site.visitor()
    shown = pages(PACED, _sample(visitor, sizes)[0])
    idle = _asked(site, visitor, shown["overview"], sizes)
    yield Pair(gates.tab("overview", "nothing happens"), idle, None)
    with _pacing(site):
        for name in ("overview", "jobs", "queue"):
            asked = _asked(site, visitor, shown[name], sizes)
            yield Pair(gates.tab(name, f"{PACE} jobs/s run"), asked, None)
        for name, asks in run_pages(*_going(site.url)).items():
            asked = _asked(site, visitor, asks, sizes)
            yield Pair(gates.tab(name, f"{PACE} jobs/s run"), asked, None)
    visitor.close()


def _going(url: str) -> tuple[str, str]:
    """A pipeline with runs that go on, as nobody works on them, and one of these."""
    with Ferry(url) as ferry:
        first, last = (ferry.task(name=f"{name}.quay", queue="quay")(_same) for name in "ab")
        voyage = ferry.pipeline("voyage", first >> last)
        # By name: a store that is kept has them already.
        runs = [voyage.using(id=f"voyage-{number}").push(number) for number in range(RUNS)]
        return voyage.name, runs[0].id


def _same(number: int) -> int:
    return number


def mixed_reads(site: Site, sizes: Sizes) -> Iterator[Pair]:
    """Reads at a fixed rate beside a worker; then at higher ones, to see what can be held."""
    reader = site.reader()
    load = Load(reader, _mix(_sample(reader, sizes), sizes))
    load.run(gates.READS / 4, sizes.read_seconds / 4)
    with _pacing(site):
        times, grown = _beside(load, gates.READS, sizes.read_seconds, reader)
        yield Pair(gates.READS_P50, percentile(times, 0.50), None)
        yield Pair(gates.READS_P99, percentile(times, 0.99), None)
        yield Pair(gates.READS_BACKLOG, grown, None)
        held = float(gates.READS) if _holds(times, grown) else 0.0
        # The highest that is held lies above a rate that is, or below one that is not.
        for step in UP if held else DOWN:
            times, grown = _beside(load, gates.READS * step, sizes.read_seconds / 3, reader)
            if _holds(times, grown):
                held = gates.READS * step
            if _holds(times, grown) is (step < 1.0):
                break
        yield Pair(gates.READS_HELD, held, None)
    reader.close()


def _holds(times: Sequence[float], grown: float) -> bool:
    return percentile(times, 0.99) < gates.READS_MOST and grown <= GROWN * PACE


def _beside(load: Load, rate: float, seconds: float, reader: Visitor) -> tuple[list[float], float]:
    before = _backlog(reader)
    times = load.run(rate, seconds)
    return times, _backlog(reader) - before


def _backlog(reader: Visitor) -> int:
    states = _paced(reader)
    return states["pending"] + states["processing"]


@contextmanager
def _pacing(site: Site) -> Iterator[None]:
    """Jobs are pushed and run beside the block."""
    with closing(site.reader()) as reader:
        done = _paced(reader).get("completed", 0)
        with work_beside(site.url):
            _await_pace(reader, done)
            yield


def _await_pace(reader: Visitor, done: int) -> None:
    """Until the worker has run jobs, and has caught up with the producer, which started earlier.

    `done` is how many there were before: a store that is kept has those of earlier runs.
    """
    deadline = time.monotonic() + 60.0
    while True:
        states = _paced(reader)
        if states.get("completed", 0) > done + PACE and states["pending"] < PACE:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"the worker does not keep pace with {PACE} jobs/s: {states}")
        time.sleep(0.25)


def _paced(reader: Visitor) -> Mapping[str, int]:
    """The jobs that run beside, by state."""
    queues = {one["queue"]: one["states"] for one in reader.get(target("queues"))["queues"]}
    found: Mapping[str, int] = queues.get(PACED, {})
    return found


def _asked(site: Site, visitor: Visitor, asks: Sequence[Ask], sizes: Sizes) -> float:
    tab = Tab(visitor, asks)
    before = site.asked
    tab.stay(sizes.tab_seconds)
    asked = site.asked - before
    tab.close()
    return asked / sizes.tab_seconds


def _sample(visitor: Visitor, sizes: Sizes) -> list[str]:
    """Ids of jobs from all over the store."""
    every = max(10, sizes.finished // 200 // 10 * 10)
    keys = [f"order-{number}" for number in range(every, sizes.finished + 1, every)]
    found = [
        visitor.get(target("jobs", where=f"key:{','.join(keys[start : start + 20])}"))["jobs"]
        for start in range(0, len(keys), 20)
    ]
    return [job["id"] for jobs in found for job in jobs]


def _mix(ids: Sequence[str], sizes: Sizes) -> list[str]:
    """Two hundred reads as people and programs put them: mostly single jobs and lists."""
    lists = ["", "state:failed", "state:pending", f"queue:{QUEUE}", f"task:{QUEUE}.send"]
    lists += [f"queue:{RARE}", f"queue:{QUEUES[1]} state:failed", "meta.user_id:u7"]
    deep = target("jobs", after=sizes.finished // 2)
    mix = [
        *(target(f"jobs/{job_id}") for job_id in ids[:60]),
        *(target("jobs", where=where) for where in lists for _ in range(8)),
        *([deep] * 10),
        *(target("jobs/counts", where=f"queue:{queue}") for queue in QUEUES * 2),
        *([target("jobs/counts", where=f"task:{QUEUE}.send state:failed")] * 8),
        *([target("overview")] * 15),
        *(target(f"queues/{queue}") for queue in QUEUES),
        *([target("workers")] * 10),
        *([target("history", hours=1)] * 9),
        *([target("me")] * 5),
        target("failures", since=3_600),
    ]
    # Alike ones apart: a step that shares no factor with their number.
    return [mix[place * 77 % len(mix)] for place in range(len(mix))]


def _timed(rounds: int, act: Callable[[], object]) -> list[float]:
    """Milliseconds of each round; one more comes first, and does not count."""
    times = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        act()
        times.append((time.perf_counter() - started) * 1_000)
    return times[1:]


PARTS: Final[Mapping[str, Callable[[Site, Sizes], Iterator[Pair]]]] = {
    "pages": page_times,
    "lists": list_times,
    "scans": scan_times,
    "tab": tab_questions,
    "reads": mixed_reads,
}
