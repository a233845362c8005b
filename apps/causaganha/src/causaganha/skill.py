"""TrueSkill with the parameters of CausaGanha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trueskill import Rating, TrueSkill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from causaganha.outcome import Result

_GAME: Final = TrueSkill(
    mu=25.0, sigma=25 / 3, beta=25 / 6, tau=25 / 300, draw_probability=0.10, backend=None
)
_RANKS: Final[dict[Result, tuple[int, int]]] = {"win_a": (0, 1), "win_b": (1, 0), "draw": (0, 0)}


@dataclass(frozen=True, slots=True)
class Skill:
    """What is believed of a lawyer: `mu`, give or take `sigma`."""

    mu: float = 25.0
    sigma: float = 25 / 3

    @property
    def conservative(self) -> float:
        """What the lawyer is almost surely worth: mu − 3 sigma."""
        return self.mu - 3 * self.sigma


def play(
    active: Sequence[Skill], passive: Sequence[Skill], result: Result
) -> tuple[list[Skill], list[Skill]]:
    """The skills of two teams after a match."""
    teams = [[Rating(each.mu, each.sigma) for each in team] for team in (active, passive)]
    one, other = _GAME.rate(teams, ranks=_RANKS[result])
    return [Skill(each.mu, each.sigma) for each in one], [
        Skill(each.mu, each.sigma) for each in other
    ]
