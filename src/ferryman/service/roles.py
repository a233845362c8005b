"""Who may do what: four roles, each of which may do all that the one before it may."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """From the least to the most that a visitor may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    EDITOR = "editor"
    ADMIN = "admin"

    def allows(self, needed: Role) -> bool:
        """Whether this role may do what `needed` may."""
        order = list(Role)
        return order.index(self) >= order.index(needed)
