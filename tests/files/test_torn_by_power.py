"""Files that are not synced may be torn by a loss of power: none of them hides a job."""

from __future__ import annotations

from chaos.disk.inodes import File, Inodes, walk
from chaos.disk.opening import opened
from chaos.disk.power import lose_power
from chaos.disk.simulated import SimulatedDisk
from chaos.disk.steps import heartbeat, message, passes, poll, push, settle

from ferryman.job import LogLine
from ferryman.lifecycle import Verdict
from ferryman.testing import FakeClock

LONG = "é" * 150
"""Too long for a folder's name: a file in it says the rest."""


def test_log_lines_cost_no_job_when_the_power_goes() -> None:
    claimed_again = [push(message("a")), poll(), settle(Verdict.NACK), passes(10), poll()]
    beat = heartbeat(logs=(LogLine(1.0, "page 40"),))
    for before in (claimed_again[:2], claimed_again):
        assert lose_power("log lines", [*before, beat], 1, each=20).findings == []


def test_a_queue_with_a_long_name_keeps_it_when_the_power_goes() -> None:
    inodes, clock = Inodes(), FakeClock()
    store = opened("/store", clock, SimulatedDisk(inodes, clock))
    store.push([message("a", LONG)])
    for _, node in walk(inodes.root):
        if isinstance(node, File):
            node.content = node.synced
    again = opened("/store", clock, SimulatedDisk(inodes, clock, boot="second boot"))
    [job] = again.poll("w", {LONG: 1}, lease=60)
    assert (job.id, job.queue) == ("a", LONG)
    assert list(again.snapshot().queues) == [LONG]


def test_a_torn_name_of_a_queue_is_not_believed() -> None:
    inodes, clock = Inodes(), FakeClock()
    store = opened("/store", clock, SimulatedDisk(inodes, clock))
    store.push([message("a", LONG), message("b", "mail")])
    [name] = [node for path, node in walk(inodes.root) if path.endswith("/.name")]
    assert isinstance(name, File)
    name.content = b""
    again = opened("/store", clock, SimulatedDisk(inodes, clock))
    assert [job.id for job in again.poll("w", {LONG: 1, "mail": 1}, lease=60)] == ["a", "b"]
    assert len(again.snapshot().queues) == 2
    assert "" not in again.snapshot().queues
