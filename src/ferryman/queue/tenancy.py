"""The refusal of stores whose queues know no tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferryman.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferryman.message import Message


def refuse_tenants(backend: str, messages: Iterable[Message]) -> None:
    """Raise `Unsupported` if one of the messages has a tenant."""
    for message in messages:
        if message.tenant is not None:
            raise Unsupported(
                f"{backend}: jobs of different tenants cannot take turns here (tenant "
                f"{message.tenant!r}): give each tenant a queue, or use sqlite:// or postgresql://"
            )
