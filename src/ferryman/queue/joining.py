"""What only databases offer: to take part in a transaction that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from ferryman.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.message import Message
    from ferryman.queue.settlement import Receipt, Settlement

Style = Literal["numeric", "format"]
"""How a driver writes parameters: `$1` (asyncpg) or `%s` (psycopg)."""


class Statement(NamedTuple):
    """One SQL statement with its values, for whoever has a connection to run it on."""

    sql: str
    values: tuple[Any, ...]


@runtime_checkable
class Joining(Protocol):
    """A backend whose claims can end in the caller's transaction: if and only if it commits."""

    def settle_within(
        self, connection: object, settlements: Sequence[Settlement]
    ) -> Sequence[Receipt]:
        """`settle` by the caller's connection; until its commit the jobs are locked."""
        ...


@runtime_checkable
class Stating(Protocol):
    """A backend that can be pushed to by a statement, through any driver."""

    def push_statement(self, message: Message, style: Style) -> Statement:
        """Answers one row: the job's id, and whether it was created."""
        ...


def no_database(backend: str, wanted: str) -> Unsupported:
    """The refusal of a backend that has no transactions to offer."""
    return Unsupported(
        f"{backend}: {wanted} needs a database behind the queue: leave it out, or keep the jobs "
        "in the database that the rest of the work is in (sqlite://, postgresql://)"
    )
