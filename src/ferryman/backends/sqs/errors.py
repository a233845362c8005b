"""What SQS says when it fails, in the words of the contract: its codes stay in here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ferryman.backends.aws.errors import Wording, code_of
from ferryman.errors import BackendRejected, BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_MISSING: Final = (
    "there is no such queue: make it with `ferryman migrate --queue …`, or let first use make it "
    "with ?create=1"
)
_BUSY: Final = "the service wants fewer requests"
_KEYS: Final = "the queue's encryption key cannot be used: see its state and its policy in KMS"

_lasting: Final = {
    "QueueDoesNotExist": _MISSING,
    "NonExistentQueue": _MISSING,
    "AccessDenied": "access is denied: allow sqs:GetQueueUrl, GetQueueAttributes, SendMessage, "
    "ReceiveMessage, DeleteMessage and ChangeMessageVisibility on the queues, and CreateQueue "
    "where they are to be made",
    "AccessDeniedException": "access is denied, see the policy of this role",
    "QueueNameExists": "the queue exists with other settings: leave them, or delete the queue",
    "KmsAccessDenied": _KEYS,
    "KmsDisabled": _KEYS,
    "KmsInvalidKeyUsage": _KEYS,
    "KmsInvalidState": _KEYS,
    "KmsNotFound": _KEYS,
    "KmsOptInRequired": _KEYS,
}
_passing: Final = {
    "OverLimit": "over 120,000 messages are on their way to workers: finish some first",
    "ThrottlingException": _BUSY,
    "Throttling": _BUSY,
    "RequestThrottled": _BUSY,
    "KmsThrottled": _BUSY,
    "QueueDeletedRecently": "the queue was deleted a moment ago: its name is free after a minute",
    "PurgeQueueInProgress": "the queue was purged within the last minute: wait for it",
    "ServiceUnavailable": "the service is not available",
}

# A handle that a later delivery has replaced, or that is over twelve hours old.
_STALE: Final = frozenset({"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"})

wording: Final = Wording(lasting=_lasting, passing=_passing)


class StaleHandle(BackendRejected):
    """The message is no longer ours: it was shown to others, or is gone."""


def is_missing(error: Exception) -> bool:
    """Whether there is no such queue."""
    return code_of(error) in ("QueueDoesNotExist", "NonExistentQueue")


def refused_entry(failure: Mapping[str, object], doing: str) -> Exception:
    """The error for one entry of a batch that was not done."""
    code = str(failure.get("Code", "")).rpartition(".")[2]
    said = _lasting.get(code) or _passing.get(code) or failure.get("Message") or "refused"
    if failure.get("SenderFault") and code not in _passing:
        if code in _STALE:
            return StaleHandle(f"{doing}: {said} ({code})")
        return BackendRejected(f"{doing}: {said} ({code})")
    return BackendUnavailable(f"{doing}: {said} ({code}); try again")
