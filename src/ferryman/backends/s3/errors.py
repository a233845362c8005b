"""What S3 and its client say when they fail, in the words of the contract: codes stay in here."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from botocore import exceptions as boto

from ferryman.backends.aws.errors import (
    CREDENTIALS_LATE,
    NO_ANSWER,
    NOT_SENT,
    Wording,
    code_of,
    status_of,
)
from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from ferryman.backends.s3.answers import Object
    from ferryman.backends.s3.sight import Sight


class Trouble(Enum):
    """What an error means for the request that met it."""

    LOST = auto()  # the condition did not hold, or there is no such object
    AGAIN = auto()  # refused for this moment; nothing was written
    UNKNOWN = auto()  # it was sent and no answer can be trusted
    UNREACHED = auto()  # it never reached the server
    PASSING = auto()  # refused until something around us heals; nothing was written
    LASTING = auto()  # refused until somebody acts; nothing was written


class Overtaken(OutcomeUnknown):
    """The write's answer was lost, and by now another stands in its place (`found`) or nothing.

    Ours was applied and then overtaken, or never applied: only the bodies' contents can tell.
    """

    def __init__(self, text: str, found: Object | None) -> None:
        super().__init__(text)
        self.found = found


class NotImplementedThere(BackendRejected):
    """The endpoint does not know this kind of request."""


class UnreadableObject(BackendRejected):
    """An object of the bucket does not hold what it should: people or programs have been there.

    `ended` is how the job ended, where a record tells that all the same.
    """

    def __init__(self, bucket: str, key: str, reason: str, ended: Sight | None = None) -> None:
        super().__init__(
            f"s3://{bucket}/{key} cannot be read ({reason}): correct the object, or delete it"
        )
        self.key = key
        self.reason = reason
        self.ended = ended


_REGION: Final = (
    "the bucket lies in another region: add ?region=… to the URL or set AWS_DEFAULT_REGION"
)
_LASTING: Final = {
    "NoSuchBucket": "there is no such bucket: create it, or correct the URL or the endpoint",
    "AccessDenied": "access is denied: allow s3:GetObject, s3:PutObject and s3:DeleteObject on its "
    "objects and s3:ListBucket on the bucket (without that, a missing object is denied too), and "
    "see that the bucket exists",
    "AllAccessDisabled": "all access to the bucket is disabled: ask its owner",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
}
_WORDING: Final = Wording(
    lasting=_LASTING,
    passing={"TokenRefreshRequired": "the session token must be renewed: renew the credentials"},
)
_AGAIN_STATUS: Final = frozenset({409, 429})
_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound", ""})


def trouble_of(error: Exception) -> Trouble:
    """The meaning of one of the driver's errors."""
    if isinstance(error, boto.ClientError):
        return _answered(status_of(error), code_of(error))
    if isinstance(error, NOT_SENT):
        return Trouble.UNREACHED
    if isinstance(error, CREDENTIALS_LATE):
        return Trouble.PASSING
    if isinstance(error, NO_ANSWER) and "CERTIFICATE" not in str(error):
        return Trouble.UNKNOWN
    return Trouble.LASTING


def translate(error: Exception, doing: str, *, unsure: bool = False) -> Exception:
    """The error of the contract for one of the driver's.

    `doing` names request, bucket and key; `unsure`: a write was sent and may have been applied.
    """
    if isinstance(error, boto.ParamValidationError):
        return error  # a mistake of ours must surface as what it is
    reason = _WORDING.reason(error)
    if unsure:
        return OutcomeUnknown(
            f"{doing}: {reason}; it was written wholly or not at all: repeat it with the same ids"
        )
    if trouble_of(error) is Trouble.LASTING:
        refused = NotImplementedThere if status_of(error) in (405, 501) else BackendRejected
        return refused(f"{doing}: {reason}")
    return BackendUnavailable(f"{doing}: {reason}; try again")


def _answered(status: int, code: str) -> Trouble:
    if status == 412 or (status == 404 and code in _MISSING):
        return Trouble.LOST
    if _WORDING.passes(code):
        return Trouble.PASSING
    if status in _AGAIN_STATUS:
        return Trouble.AGAIN
    if status == 501 or 300 <= status < 500:
        return Trouble.LASTING
    # 503 is said to mean "not done", but gateways send it for a server that fell silent.
    return Trouble.UNKNOWN
