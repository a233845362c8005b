"""Random pipelines with crashes between any two steps: every child once, fan-in fires once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chaos.dags.dag import Dag, dags
from chaos.dags.world import World, told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

deaths = st.lists(st.integers(0, 60), max_size=12)
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def check(dag: Dag, dying: list[int], url: str, name: str = "dag") -> None:
    world = World(dag, url, dying, name)
    with world.ferry:
        findings = world.run()
    assert findings == [], told(dag, dying, findings)


@settings(max_examples=200, **QUIET)  # type: ignore[arg-type]
@given(dags(), deaths)
def test_in_memory(dag: Dag, dying: list[int]) -> None:
    check(dag, dying, "memory://")


@pytest.mark.parametrize("store", ["sqlite", "file", "postgresql"])
def test_in_a_durable_store(
    store: str, memory_folder: Path, request: pytest.FixtureRequest
) -> None:
    urls = {
        "sqlite": f"sqlite:///{memory_folder}/{{name}}.db",
        "file": f"file://{memory_folder}/{{name}}",
        "postgresql": "" if store != "postgresql" else request.getfixturevalue("postgres_url"),
    }
    numbers = iter(range(1_000))

    @settings(max_examples=20, **QUIET)  # type: ignore[arg-type]
    @given(dags(), deaths)
    def one_after_another(dag: Dag, dying: list[int]) -> None:
        name = f"dag-{next(numbers)}"
        check(dag, dying, urls[store].format(name=name), name)

    one_after_another()
