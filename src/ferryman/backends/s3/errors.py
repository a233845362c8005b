"""What S3 and its client say when they fail, in the words of the contract: codes stay in here."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from ferryman.backends.s3.answers import Object

# The last: the driver lets it through when the body of a refusal breaks off.
DRIVER_ERRORS: Final = (boto.BotoCoreError, boto.ClientError, ResponseParserError, HTTPError)


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


_NOT_SENT: Final = (
    boto.EndpointConnectionError,
    boto.ConnectTimeoutError,
    boto.ProxyConnectionError,
)
# A reply that breaks off, never comes or cannot be read says nothing about the request.
_NO_ANSWER: Final = (
    boto.HTTPClientError,
    boto.SSLError,
    boto.IncompleteReadError,
    ResponseParserError,
    HTTPError,
)
_NO_CREDENTIALS: Final = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.ProfileNotFound,
    boto.NoAuthTokenError,
)
# Roles and single sign-on: what they wait for comes back without us.
_CREDENTIALS_LATE: Final = (
    boto.CredentialRetrievalError,
    boto.TokenRetrievalError,
    boto.MetadataRetrievalError,
    boto.SSOError,
)

_SETTINGS: Final = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile (AWS_PROFILE) or a role"
_REGION: Final = (
    "the bucket lies in another region: add ?region=… to the URL or set AWS_DEFAULT_REGION"
)
_LASTING: Final = {
    "NoSuchBucket": "there is no such bucket: create it, or correct the URL or the endpoint",
    "AccessDenied": "access is denied: allow s3:GetObject, s3:PutObject and s3:DeleteObject on its "
    "objects and s3:ListBucket on the bucket (without that, a missing object is denied too), and "
    "see that the bucket exists",
    "AllAccessDisabled": "all access to the bucket is disabled: ask its owner",
    "InvalidAccessKeyId": f"the server does not know this access key: correct {_SETTINGS}",
    "SignatureDoesNotMatch": f"the secret key is not that of the access key: correct {_SETTINGS}",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
}
_PASSING: Final = {
    "ExpiredToken": "the session token has expired: renew the credentials",
    "TokenRefreshRequired": "the session token must be renewed: renew the credentials",
    "RequestTimeTooSkewed": "this machine's clock is too far from the server's: set it by NTP",
}
_AGAIN_STATUS: Final = frozenset({409, 429})
_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound", ""})


def trouble_of(error: Exception) -> Trouble:
    """The meaning of one of the driver's errors."""
    if isinstance(error, boto.ClientError):
        return _answered(status_of(error), code_of(error))
    if isinstance(error, _NOT_SENT):
        return Trouble.UNREACHED
    if isinstance(error, _CREDENTIALS_LATE):
        return Trouble.PASSING
    if isinstance(error, _NO_ANSWER) and "CERTIFICATE" not in str(error):
        return Trouble.UNKNOWN
    return Trouble.LASTING


def translate(error: Exception, doing: str, *, unsure: bool = False) -> Exception:
    """The error of the contract for one of the driver's.

    `doing` names request, bucket and key; `unsure`: a write was sent and may have been applied.
    """
    if isinstance(error, boto.ParamValidationError):
        return error  # a mistake of ours must surface as what it is
    reason = _reason(error)
    if unsure:
        return OutcomeUnknown(
            f"{doing}: {reason}; it was written wholly or not at all: repeat it with the same ids"
        )
    if trouble_of(error) is Trouble.LASTING:
        refused = NotImplementedThere if status_of(error) in (405, 501) else BackendRejected
        return refused(f"{doing}: {reason}")
    return BackendUnavailable(f"{doing}: {reason}; try again")


def status_of(error: Exception) -> int:
    """The HTTP status of an answered request, else 0."""
    if not isinstance(error, boto.ClientError):
        return 0
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def code_of(error: Exception) -> str:
    """S3's name for the error of an answered request, else empty."""
    if not isinstance(error, boto.ClientError):
        return ""
    return str(error.response.get("Error", {}).get("Code", ""))


def _answered(status: int, code: str) -> Trouble:
    if status == 412 or (status == 404 and code in _MISSING):
        return Trouble.LOST
    if code in _PASSING:
        return Trouble.PASSING
    if status in _AGAIN_STATUS:
        return Trouble.AGAIN
    if status == 501 or 300 <= status < 500:
        return Trouble.LASTING
    # 503 is said to mean "not done", but gateways send it for a server that fell silent.
    return Trouble.UNKNOWN


def _reason(error: Exception) -> str:
    code = code_of(error)
    if known := _LASTING.get(code) or _PASSING.get(code):
        return f"{known} ({code})"
    if isinstance(error, boto.ClientError):
        said = " ".join(str(error.response.get("Error", {}).get("Message", "")).split())
        return f"the server answered {status_of(error)} {code} {said[:200]}".rstrip()
    if isinstance(error, _NO_CREDENTIALS):
        return f"no AWS credentials were found: set {_SETTINGS}"
    if isinstance(error, _NOT_SENT):
        return (
            f"the server cannot be reached ({type(error).__name__}): see that it runs and that "
            "endpoint and region are right"
        )
    if isinstance(error, _NO_ANSWER):
        return f"the server's answer broke off or did not come ({type(error).__name__})"
    # The texts of the driver's own errors may quote settings, and among them secrets.
    return type(error).__name__
