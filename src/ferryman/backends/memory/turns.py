"""The turns of the tenants of one queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferryman.backends.memory.row import Row


class Turns:
    """Gives each ready row of a tenant its turn, for each priority apart.

    It is the one after the tenant's last, or after the one that was last claimed by anybody: a
    tenant that has been away neither waits behind the backlog of others nor makes up for lost time.
    """

    __slots__ = ("_claimed", "_last", "_waiting")

    def __init__(self) -> None:
        self._claimed: dict[int, int] = {}
        self._last: dict[tuple[int, str], int] = {}
        self._waiting: dict[tuple[int, str], int] = {}

    def join(self, row: Row, priority: int, tenant: str) -> None:
        """Let a row that is ready wait for its turn; one that comes back keeps it."""
        who = (priority, tenant)
        if not row.tenant_turn:
            row.tenant_turn = 1 + max(self._claimed.get(priority, 0), self._last.get(who, 0))
        self._last[who] = max(self._last.get(who, 0), row.tenant_turn)
        self._waiting[who] = self._waiting.get(who, 0) + 1

    def claim(self, priority: int, turn: int) -> None:
        """A row of this turn was claimed."""
        self._claimed[priority] = max(self._claimed.get(priority, 0), turn)

    def leave(self, priority: int, tenant: str | None) -> None:
        """A row waits no longer; what is known of its tenant goes with the last one."""
        who = (priority, tenant or "")
        self._waiting[who] -= 1
        if not self._waiting[who]:
            del self._waiting[who], self._last[who]
