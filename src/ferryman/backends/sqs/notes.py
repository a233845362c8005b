"""What a message says when the job itself lies in a ledger: its id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ferryman.errors import InvalidMessage
from ferryman.message import Message

if TYPE_CHECKING:
    from ferryman.backends.sqs.calls import Delivery

_MARK: Final = "ferryman"
_KIND: Final = "job"


def write(job_id: str) -> str:
    # ASCII: of the other characters SQS refuses some that an id may have.
    return json.dumps({_MARK: _KIND, "id": job_id})


def read(body: str) -> str | None:
    """The id in a message of ours; None in another program's."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get(_MARK) != _KIND:
        return None
    return job_id if isinstance(job_id := said.get("id"), str) else None


def adopt(delivery: Delivery, task: str) -> Message:
    """Another program's message as a message for `task`; `InvalidMessage` if it is not JSON.

    Its id is made from that of SQS, so that it is one job however often it is received.
    """
    try:
        payload = json.loads(delivery.body)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("body", f"is not JSON: {error}") from None
    return Message.of(delivery.queue, task, payload, id=f"sqs-{delivery.message_id}")
