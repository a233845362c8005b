"""A random pipeline, and what a run of it must come to, reckoned without any store."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

Says = Literal["value", "list", "generator", "nothing"]

MOST_NODES = 30
MOST_JOBS = 60


@dataclass(frozen=True)
class Node:
    """One stage: what leads to it, and what its handler says."""

    name: str
    after: tuple[int, ...]
    collects: str | None
    says: Says
    width: int
    picky: bool

    def answer(self, payload: Any) -> Any:
        """What the handler returns, the same for the same input; `Refused` for some of them."""
        base = _short(self.name, payload)
        if self.picky and int(base, 16) % 4 == 0:
            raise Refused
        if self.says == "nothing":
            return None
        return base if self.says == "value" else [f"{base}.{n}" for n in range(self.width)]


class Refused(Exception):
    """This input makes the handler fail for good."""


@dataclass(frozen=True)
class Dag:
    """Nodes in order; the first one begins."""

    nodes: tuple[Node, ...]

    def expected(self) -> Counter[tuple[str, str]] | None:
        """How often each stage completes with each result; None if there are too many jobs."""
        ends: Counter[tuple[str, str]] = Counter()
        results: list[list[Any]] = []
        begun = False
        total = 0
        for number, node in enumerate(self.nodes):
            inputs = ["start"] if number == 0 else self._inputs(node, results, begun)
            total += len(inputs)
            if total > MOST_JOBS:
                return None
            answers = [answer for each in inputs for answer in _answers(node, each)]
            begun = bool(answers and answers[0] is not None) if number == 0 else begun
            results.append([answer for answer in answers if answer is not None])
            ends.update((node.name, _kept(node, answer)) for answer in answers)
        return ends

    def _inputs(self, node: Node, results: Sequence[list[Any]], begun: bool) -> list[Any]:
        if node.collects is not None:
            found = [result for before in node.after for result in results[before]]
            return [canonical(found)] if begun else []
        inputs: list[Any] = []
        for before in node.after:
            for result in results[before]:
                inputs += result if isinstance(result, list) else [result]
        return inputs


def canonical(found: list[Any]) -> str:
    """What was collected, whatever its order."""
    return json.dumps(sorted(found, key=json.dumps))


def _answers(node: Node, payload: Any) -> list[Any]:
    try:
        return [node.answer(payload)]
    except Refused:
        return []


def _kept(node: Node, answer: Any) -> str:
    kept = len(answer) if node.says == "generator" else answer
    return json.dumps(kept, separators=(",", ":"))


def _short(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:10]


@st.composite
def dags(draw: st.DrawFn) -> Dag:
    """Up to thirty stages; where two ways meet, the stage mostly collects."""
    count = draw(st.integers(1, MOST_NODES))
    picky = draw(st.booleans())
    nodes: list[Node] = []
    for number in range(count):
        nodes.append(_node(draw, number, nodes, picky))
        if Dag(tuple(nodes)).expected() is None:
            nodes[-1] = _tamed(nodes[-1])
            if Dag(tuple(nodes)).expected() is None:
                nodes.pop()
                break
    return Dag(tuple(nodes))


def _node(draw: st.DrawFn, number: int, nodes: Sequence[Node], picky: bool) -> Node:
    before = draw(st.sets(st.integers(0, number - 1), min_size=1, max_size=3)) if number else set()
    after = tuple(sorted(before))
    yields = any(nodes[each].says == "generator" for each in after)
    often = len(after) > 1 or draw(st.booleans())
    collects = None
    if number and often and not yields:
        collects = "skip" if picky else draw(st.sampled_from(["wait", "skip", "fail"]))
    says: Says = draw(st.sampled_from(["value", "value", "list", "generator", "nothing"]))
    width = draw(st.integers(0, 6))
    refuses = picky and collects is None and number > 0 and draw(st.booleans())
    return Node(f"s{number}", after, collects, says, width, refuses)


def _tamed(node: Node) -> Node:
    return Node(node.name, node.after[:1], node.collects, "value", 1, node.picky)
