"""The dashboard for Grafana and the alerts for Prometheus ask for what is really scraped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import yaml

from ferryman import Ferry
from ferryman.web.exposition import Exposition
from ferryman.worker.upkeep import WORKER_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "ferryman.json").read_text())
ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "ferryman-alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
TARGETS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
# What Grafana puts in before it asks.
VARIABLES = {"$__rate_interval": "5m", "$queue": ".*"}


def expressions() -> list[str]:
    found = [*(rule["expr"] for rule in RULES), *TARGETS]
    for name, value in VARIABLES.items():
        found = [expression.replace(name, value) for expression in found]
    return found


@pytest.fixture(scope="module")
def scraped() -> dict[str, set[str]]:
    """The names of all samples of a real scrape, each with its labels."""
    with Ferry("memory://") as ferry:
        row = json.dumps({"heartbeat_at": ferry.backend.clock.now(), "skew": 0.1, "hears": True})
        ferry.backend.write_cell(WORKER_CELLS + "one", row, expect=0)
        exposition = Exposition(ferry.backend, ferry.events)
        registry = exposition._registry
        found: dict[str, set[str]] = {}
        text = exposition.text().decode()
        for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M):
            endings = ("_bucket", "_count", "_sum") if kind == "histogram" else ("",)
            found |= {name + ending: set() for ending in endings}
        # A counter without a sample has no labels in the text yet: they are asked of it.
        for collector in registry._collector_to_names:
            labels = set(getattr(collector, "_labelnames", ())) | {"le"}
            for name in registry._collector_to_names[collector]:
                found[name] = labels
        for metric in registry.collect():
            for sample in metric.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
        return found


def selectors(node: Any) -> Iterator[promql_parser.VectorSelector]:
    """The names and matchers anywhere in an expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for part in ("expr", "lhs", "rhs", "vector_selector", "args", "param"):
        child = getattr(node, part, None)
        for each in child if isinstance(child, list | tuple) else [child]:
            if each is not None and not isinstance(each, str | int | float):
                yield from selectors(each)


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_asks_for_metrics_that_are_scraped(
    expression: str, scraped: dict[str, set[str]]
) -> None:
    found = list(selectors(promql_parser.parse(expression)))
    assert len(found) == len(re.findall(r"\bferryman_\w+", expression)) > 0
    for selector in found:
        assert selector.name in scraped


def test_every_metric_is_shown_or_watched(scraped: dict[str, set[str]]) -> None:
    asked = " ".join(expressions())
    base = {re.sub(r"_(bucket|count|sum|created|total)$", "", name) for name in scraped}
    quiet = {"ferryman_build_info", "ferryman_queue_slots"}
    assert {name for name in base if name not in asked} <= quiet


def test_every_metric_is_documented_with_its_labels(scraped: dict[str, set[str]]) -> None:
    text = (DEPLOY.parent / "docs" / "metrics.md").read_text()
    named = set(re.findall(r"`(ferryman_\w+)`", text))
    names = {re.sub(r"_(bucket|count|sum)$", "", name) for name in scraped}
    counted = {name for name in names if name.endswith("_total")}
    bare = {name.removesuffix("_total") for name in counted}
    wanted = {n for n in names if n not in bare and not n.endswith("_created")}
    assert named == wanted


def test_labels_in_the_alerts_are_those_of_the_metrics(scraped: dict[str, set[str]]) -> None:
    known = set().union(*scraped.values()) | {"instance"}
    for rule in RULES:
        used = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule)))
        assert used <= known
        for names in re.findall(r"(?:by|on) \(([^)]*)\)", rule["expr"]):
            assert {name.strip() for name in names.split(",")} <= known


def test_alerts_have_what_prometheus_wants_of_them() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[smh]", rule["for"])
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"].keys() == {"summary", "description"}


def test_panels_of_the_dashboard_neither_share_an_id_nor_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + across, place["y"] + down)
            for across in range(place["w"])
            for down in range(place["h"])
        }
        assert not cells & taken
        assert max(across for across, _ in cells) < 24
        taken |= cells


def sums(node: Any) -> Iterator[Any]:
    """The additions and subtractions anywhere in an expression."""
    if isinstance(node, promql_parser.BinaryExpr) and str(node.op) in ("+", "-"):
        yield node
    for part in ("expr", "lhs", "rhs", "args", "param"):
        child = getattr(node, part, None)
        for each in child if isinstance(child, list | tuple) else [child]:
            if each is not None and not isinstance(each, str | int | float):
                yield from sums(each)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_no_alert_is_silent_because_one_of_its_counters_never_counted(rule: Any) -> None:
    # `a + b` is empty where a or b has no series, and a counter has none before it first counts.
    for node in sums(promql_parser.parse(rule["expr"])):
        sides = [{one.name for one in selectors(side)} for side in (node.lhs, node.rhs)]
        assert not all(sides), rule["expr"]


def test_leases_that_are_lost_and_those_that_are_reaped_add_up() -> None:
    [rule] = [rule for rule in RULES if rule["alert"] == "FerrymanLeasesLost"]
    bound: Any = promql_parser.parse(rule["expr"])
    total = bound.lhs
    assert (str(total.op), str(bound.op)) == ("sum", ">")
    either = total.expr
    assert str(either.op) == "or"
    marks = [side.args[2].val for side in (either.lhs, either.rhs)]
    # What is alike but for its name would be counted once.
    assert len(set(marks)) == 2
    for side, name in zip(
        (either.lhs, either.rhs),
        ("ferryman_lease_lost_total", "ferryman_reaped_total"),
        strict=True,
    ):
        assert {one.name for one in selectors(side)} == {name}
        whole = side.args[0]
        # A series that is new counts whole: nothing shows it growing from zero.
        assert str(whole.op) == "or"
        assert "unless" in str(whole.lhs)
