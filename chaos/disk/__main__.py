"""`python -m chaos.disk`: the file backend under crashes, losses of power and failing disks.

Exit code 0 only if every promise held.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import secrets
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Final

from chaos.disk.broken import BROKEN
from chaos.disk.crashes import enumerate_crashes
from chaos.disk.crossings import CROSSINGS
from chaos.disk.encounters import ENCOUNTERS
from chaos.disk.faults import enumerate_faults
from chaos.disk.hands import HANDS
from chaos.disk.kills import kill
from chaos.disk.meetings import meet
from chaos.disk.mortal import NUMBERS
from chaos.disk.move_power import die_then_lose_power_moving, lose_power_moving
from chaos.disk.moves import die_twice_moving, enumerate_moves
from chaos.disk.opening import opened
from chaos.disk.power import lose_power
from chaos.disk.relay import die_then_lose_power, die_twice
from chaos.disk.scenes import SCENES
from chaos.disk.script import script

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chaos.disk.crossings import Crossing
    from chaos.disk.scenes import Scene
    from chaos.disk.steps import Step


def main(arguments: Sequence[str] | None = None) -> int:
    """0: clean; 1: a promise was broken."""
    options = _parser().parse_args(arguments)
    # What is set aside is set aside on purpose here, some hundred times.
    logging.getLogger("ferryman.files").setLevel(logging.ERROR)
    started = time.monotonic()
    findings: list[str] = options.run(options)
    for finding in findings[: options.tell]:
        _say(f"  {finding}")
    seconds = time.monotonic() - started
    _say(
        f"{len(findings)} findings in {seconds:.0f} s" if findings else f"clean in {seconds:.0f} s"
    )
    return 1 if findings else 0


def crashes(options: argparse.Namespace) -> list[str]:
    """Die at every point of every act, once as its own process and once as a fresh one."""
    findings: list[str] = []
    total = 0
    build = BROKEN.get(options.broken, opened)
    scenes = [*_scenes(options.only), *_scenes(options.only, HANDS)]
    for scene in scenes:
        found = [
            enumerate_crashes(scene, fresh=fresh, every=options.every, build=build)
            for fresh in ([True] if scene.by_hand else [False, True])
        ]
        points = [len(one.points) + 1 for one in found]
        findings += itertools.chain.from_iterable(one.findings for one in found)
        total += sum(points)
        wrong = sum(len(one.findings) for one in found)
        told = "".join(f"{number:6}" for number in points).rjust(12)
        _say(f"{told}  {scene.name}{f'  {wrong} FINDINGS' if wrong else ''}")
    _say(f"{total} crash points of {len(scenes)} acts, each recovered in two ways")
    return findings


def kills(options: argparse.Namespace) -> list[str]:
    """A sample of the same points by SIGKILL."""
    chance = Random(options.seed)  # noqa: S311
    findings: list[str] = []
    _say(f"seed {options.seed}")
    for number in range(options.count):
        scene = SCENES[number % len(SCENES)]
        points = len(enumerate_crashes(scene, every=1_000_000).points)
        findings += kill(scene, chance.randrange(points + 1))
    _say(f"{options.count} kills")
    return findings


def power(options: argparse.Namespace) -> list[str]:
    """Lose power at every change of every act, then of scripts by chance until it is enough."""
    findings: list[str] = []
    states = moments = played = 0
    build = BROKEN.get(options.broken, opened)
    _say(f"seed {options.seed}")
    for name, steps, seed in _workloads(options.seed):
        if states >= options.states:
            break
        found = lose_power(name, steps, seed, options.each, build)
        findings += found.findings
        states += found.states
        moments += found.moments
        played += 1
    _say(f"{states} distinct states at {moments} moments of {played} scripts")
    return findings


def relay(options: argparse.Namespace) -> list[str]:
    """Die at every change of every act, let another process take over, then lose power."""
    findings: list[str] = []
    deaths = states = 0
    build = BROKEN.get(options.broken, opened)
    _say(f"seed {options.seed}")
    for scene in _scenes(options.only):
        found = die_then_lose_power(scene, options.seed, build=build)
        findings += found.findings
        deaths += found.deaths
        states += len(found.states)
    _say(f"{deaths} deaths, {states} distinct states after losses of power that followed")
    return findings


def twice(options: argparse.Namespace) -> list[str]:
    """Die at every change of every act, and let the process that takes over die too."""
    findings: list[str] = []
    deaths = 0
    build = BROKEN.get(options.broken, opened)
    _say(f"seed {options.seed}")
    for scene in _scenes(options.only):
        found = die_twice(scene, options.seed, build=build)
        findings += found.findings
        deaths += found.deaths
    _say(f"{deaths} pairs of deaths")
    return findings


def meetings(options: argparse.Namespace) -> list[str]:
    """Let a second process act at every point of a first one's act."""
    findings: list[str] = []
    points = waited = 0
    for meeting in ENCOUNTERS:
        if options.only is None or options.only in meeting.name:
            found = meet(meeting, BROKEN.get(options.broken, opened))
            findings += found.findings
            points += found.points
            waited += found.waited
    _say(f"{points} meetings of two processes; the second had to wait in {waited} of them")
    return findings


def faults(options: argparse.Namespace) -> list[str]:
    """Fail every call of every act, once and from there on."""
    findings: list[str] = []
    for name, number in NUMBERS.items():
        for lasting in (False, True):
            failed = 0
            for scene in _scenes(options.only):
                build = BROKEN.get(options.broken, opened)
                found = enumerate_faults(
                    scene, number, lasting=lasting, every=options.every, build=build
                )
                findings += (f"{name}: {finding}" for finding in found.findings)
                failed += found.failed
            _say(f"{failed} calls failed with {name}, {'for good' if lasting else 'once'}")
    return findings


def moves(options: argparse.Namespace) -> list[str]:
    """Die at every point of a move between two stores; die twice; lose power."""
    crossings = [one for one in CROSSINGS if options.only is None or options.only in one.name]
    _say(f"seed {options.seed}")
    return [*_die_moving(crossings, options), *_lose_power_moving(crossings, options)]


def _die_moving(crossings: Sequence[Crossing], options: argparse.Namespace) -> Iterator[str]:
    build = BROKEN.get(options.broken, opened)
    total = pairs = 0
    for crossing in crossings:
        once = enumerate_moves(crossing, every=options.every, build=build)
        again = die_twice_moving(crossing, options.seed, build=build)
        findings = [*once.findings, *again.findings]
        yield from findings
        total += len(once.points) + 1
        pairs += len(again.points)
        told = f"  {len(findings)} FINDINGS" if findings else ""
        _say(f"{len(once.points) + 1:12}  {crossing.name}{told}")
    _say(f"{total} crash points of {len(crossings)} moves, each recovered in two ways")
    _say(f"{pairs} pairs of deaths")


def _lose_power_moving(crossings: Sequence[Crossing], options: argparse.Namespace) -> Iterator[str]:
    build = BROKEN.get(options.broken, opened)
    for lose in (lose_power_moving, die_then_lose_power_moving):
        states = moments = 0
        for crossing in crossings:
            if not crossing.claimed:
                found = lose(crossing, options.seed, build=build)
                yield from found.findings
                states += len(found.states)
                moments += found.moments
        _say(f"{states} distinct states at {moments} {_MOMENTS[lose.__name__]}")


_MOMENTS: Final = {
    "lose_power_moving": "moments of a move",
    "die_then_lose_power_moving": "deaths, after the end of the move that followed",
}


def everything(options: argparse.Namespace) -> list[str]:
    """All of these, one after the other."""
    findings: list[str] = []
    for name, run in COMMANDS.items():
        _say(f"\n{name}: {run.__doc__}")
        findings += run(options)
    return findings


COMMANDS = {
    run.__name__: run for run in (crashes, moves, kills, twice, meetings, faults, power, relay)
}


def _scenes(only: str | None, scenes: Sequence[Scene] = SCENES) -> Sequence[Scene]:
    return [scene for scene in scenes if only is None or only in scene.name]


def _workloads(seed: int) -> Iterator[tuple[str, Sequence[Step], int]]:
    for scene in SCENES:
        yield scene.name, [*scene.before, scene.act], seed
    for number in itertools.count(seed):
        yield f"script {number}", script(number), number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m chaos.disk", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in {"all": everything, **COMMANDS}.items():
        command = commands.add_parser(name, help=run.__doc__)
        command.set_defaults(run=run)
        command.add_argument("--only", help="scenes whose name holds this text")
        command.add_argument("--every", type=int, default=1, help="only every n-th point (1)")
        command.add_argument("--seed", type=int, default=secrets.randbits(32))
        command.add_argument("--states", type=int, default=20_000, help="distinct states (20000)")
        command.add_argument("--each", type=int, default=6, help="states at each moment (6)")
        command.add_argument("--count", type=int, default=200, help="kills (200)")
        command.add_argument("--tell", type=int, default=12, help="findings told in full (12)")
        if run is not kills:
            command.add_argument(
                "--broken", choices=sorted(BROKEN), help="a build broken on purpose"
            )
    return parser


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
