"""The examples for autoscalers ask for what the server really answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from ferryman import Ferry
from ferryman.service.config import MAX_SLOTS
from ferryman.service.insights import Insights
from ferryman.service.presentation import scale as shown
from ferryman.service.scale import scale
from ferryman.web.access.rules import RULES
from ferryman.web.exposition import Exposition

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
PARTS = {
    part["kind"]: part
    for path in sorted(FOLDER.glob("*.yaml"))
    for part in yaml.safe_load_all(path.read_text())
}


def test_keda_asks_the_server_how_many_workers_are_wanted() -> None:
    [trigger] = PARTS["ScaledObject"]["spec"]["triggers"]
    asked = trigger["metadata"]
    url = urlsplit(asked["url"])
    query = parse_qs(url.query, strict_parsing=True)
    assert f"GET {url.path}" in RULES
    assert query.keys() == {"queue", "slots"}
    assert 1 <= int(query["slots"][0]) <= MAX_SLOTS
    with Ferry("memory://") as ferry:
        for _ in range(9):
            ferry.push("send", queue=query["queue"][0])
        answer = shown(
            scale(Insights(ferry.backend), query["queue"][0], slots=int(query["slots"][0]))
        )
    # So many workers for each of the target's value: the answer itself.
    assert (answer[asked["valueLocation"]], asked["targetValue"]) == (3, "1")
    assert (trigger["type"], asked["authMode"]) == ("metrics-api", "bearer")


def test_keda_finds_the_key_where_its_secret_is() -> None:
    [trigger] = PARTS["ScaledObject"]["spec"]["triggers"]
    assert (
        trigger["authenticationRef"]["name"] == PARTS["TriggerAuthentication"]["metadata"]["name"]
    )
    [reference] = PARTS["TriggerAuthentication"]["spec"]["secretTargetRef"]
    assert reference["name"] == PARTS["Secret"]["metadata"]["name"]
    assert reference["key"] in PARTS["Secret"]["stringData"]
    # What the scaler wants of `authMode: bearer`.
    assert reference["parameter"] == "token"


def test_both_scale_the_same_workers_within_bounds() -> None:
    keda, hpa = PARTS["ScaledObject"]["spec"], PARTS["HorizontalPodAutoscaler"]["spec"]
    assert keda["scaleTargetRef"]["name"] == hpa["scaleTargetRef"]["name"]
    assert keda["minReplicaCount"] == 0 < hpa["minReplicas"]
    assert keda["maxReplicaCount"] == hpa["maxReplicas"]


def test_the_metric_of_the_other_example_is_scraped_with_its_labels() -> None:
    [metric] = PARTS["HorizontalPodAutoscaler"]["spec"]["metrics"]
    wanted: dict[str, Any] = metric["external"]["metric"]
    labels = wanted["selector"]["matchLabels"]
    with Ferry("memory://") as ferry:
        ferry.push("send", queue=labels["queue"])
        text = Exposition(ferry.backend, ferry.events).text().decode()
    name, queue = re.escape(wanted["name"]), re.escape(labels["queue"])
    assert re.search(rf'^{name}{{queue="{queue}"}} 1\.0$', text, re.M)
