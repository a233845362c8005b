"""The turns of tenants, for messages that are streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferryman.backends.postgresql.transaction import Transaction
    from ferryman.message import Message

# Where copy.sql has it.
SCHEDULED: Final = 9


def in_turn(
    tx: Transaction, messages: Sequence[Message], rows: Sequence[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows of copy.sql with the tenant and the turn that copy_in_turn.sql has, too."""
    whose = [(message.queue, message.tenant, message.priority) for message in messages]
    tenants = list(dict.fromkeys(whose))
    queues, names, priorities = zip(*tenants, strict=True)
    values = {"queues": [*queues], "tenants": [*names], "priorities": [*priorities]}
    turns = dict(zip(tenants, (turn for (turn,) in tx.rows("next_turns", values)), strict=True))
    found = []
    for who, row in zip(whose, rows, strict=True):
        turn = 0 if row[SCHEDULED] else turns[who]
        turns[who] += 1 if turn else 0
        found.append((*row, who[1], turn))
    return found
