"""TrueSkill as CausaGanha plays it, against figures from its own stored matches."""

from __future__ import annotations

import pytest

from causaganha.skill import Skill, play

FRESH = Skill()


def near(mu: float, sigma: float) -> object:
    return pytest.approx((mu, sigma), abs=1e-6)


def pair(skill: Skill) -> tuple[float, float]:
    return skill.mu, skill.sigma


def test_one_against_one() -> None:
    [winner], [loser] = play([FRESH], [FRESH], "win_a")
    assert pair(winner) == near(29.395832, 7.171476)
    assert pair(loser) == near(20.604168, 7.171476)


def test_the_passive_side_can_win() -> None:
    [loser], [winner] = play([FRESH], [FRESH], "win_b")
    assert pair(winner) == near(29.395832, 7.171476)
    assert pair(loser) == near(20.604168, 7.171476)


def test_two_against_one_and_a_draw() -> None:
    two, [one] = play([FRESH, FRESH], [FRESH], "draw")
    assert [pair(each) for each in two] == [near(18.340212, 7.137935)] * 2
    assert pair(one) == near(31.659788, 7.137935)


def test_six_against_one_who_has_won_before() -> None:
    [known], _ = play([FRESH], [FRESH], "win_a")
    six, [one] = play([FRESH] * 6, [known], "draw")
    assert [pair(each) for each in six] == [near(10.810626, 7.828165)] * 6
    assert pair(one) == near(39.904750, 6.852369)
