"""`python -m chaos.dags`: so many random pipelines on one store, each under its own crashes."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from chaos.dags.dag import Dag, dags
from chaos.dags.world import World, told
from chaos.served import served

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTS = {"memory": 10_000, "sqlite": 500, "file": 500, "postgresql": 500}
# Deaths of processes need no disk, and without one a campaign takes minutes.
FAST = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # noqa: S108
DEATHS = st.lists(st.integers(0, 60), max_size=12)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=[*COUNTS, "all"], default="all")
    parser.add_argument("--count", type=int, help="how many pipelines on each store")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chosen = list(COUNTS) if options.backend == "all" else [options.backend]
    for backend in chosen:
        campaign(backend, options.count or COUNTS[backend], options.seed)
    return 0


def campaign(backend: str, count: int, number: int) -> None:
    """Raises, with the smallest pipeline that shows it, if any of them ends wrongly."""
    counted = {"dags": 0, "deaths": 0}
    started = time.monotonic()
    with store(backend) as url:

        @seed(number)
        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(dags(), DEATHS)
        def one(dag: Dag, dying: list[int]) -> None:
            counted["dags"] += 1
            name = f"dag-{counted['dags']}"
            world = World(dag, url.format(name=name), dying, name)
            with world.ferry:
                findings = world.run()
            counted["deaths"] += world.deaths
            if findings:
                raise AssertionError(told(dag, dying, findings))

        one()
    seconds = time.monotonic() - started
    sys.stdout.write(
        f"{backend}: {counted['dags']:,} pipelines, {counted['deaths']:,} deaths, "
        f"nothing lost, nothing twice ({seconds:.0f} s)\n"
    )


@contextmanager
def store(backend: str) -> Iterator[str]:
    """Where a campaign's pipelines run: in a server together, elsewhere each in a store of its own.

    The URL has a place for the name of one.
    """
    with tempfile.TemporaryDirectory(prefix="ferryman-dags-", dir=FAST) as folder:
        match backend:
            case "sqlite":
                yield f"sqlite:///{folder}/{{name}}.db"
            case "file":
                yield f"file://{folder}/{{name}}"
            case "postgresql":
                with served(Path(folder)) as site:
                    yield site.judge
            case _:
                yield "memory://"


if __name__ == "__main__":
    sys.exit(main())
