"""What the driver says when a request fails, whatever the service, in the contract's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from ferryman.errors import BackendRejected, BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

# The last: the driver lets it through when the body of a refusal breaks off.
DRIVER_ERRORS: Final = (boto.BotoCoreError, boto.ClientError, ResponseParserError, HTTPError)

SETTINGS: Final = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile (AWS_PROFILE) or a role"

NOT_SENT: Final = (
    boto.EndpointConnectionError,
    boto.ConnectTimeoutError,
    boto.ProxyConnectionError,
)
# A reply that breaks off, never comes or cannot be read says nothing about the request.
NO_ANSWER: Final = (
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
CREDENTIALS_LATE: Final = (
    boto.CredentialRetrievalError,
    boto.TokenRetrievalError,
    boto.MetadataRetrievalError,
    boto.SSOError,
)
# Each means the same at every service, under the name that this one has for it.
_EXPIRED: Final = "the session token has expired: renew the credentials"
PASSING: Final[Mapping[str, str]] = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "RequestExpired": "the request was too old when it arrived: set this machine's clock by NTP",
    "RequestTimeTooSkewed": "this machine's clock is too far from the server's: set it by NTP",
}
LASTING: Final[Mapping[str, str]] = {
    "InvalidAccessKeyId": f"the server does not know this access key: correct {SETTINGS}",
    "InvalidClientTokenId": f"the server does not know this access key: correct {SETTINGS}",
    "UnrecognizedClientException": f"the server does not know this access key: correct {SETTINGS}",
    "SignatureDoesNotMatch": f"the secret key is not that of the access key: correct {SETTINGS}",
}


class Wording:
    """The errors of one service: its own codes besides those that all have."""

    def __init__(self, *, lasting: Mapping[str, str], passing: Mapping[str, str]) -> None:
        self._lasting = {**LASTING, **lasting}
        self._passing = {**PASSING, **passing}

    def translate(self, error: Exception, doing: str) -> Exception:
        """The error of the contract for one of the driver's; `doing` names request and object."""
        if isinstance(error, boto.ParamValidationError):
            return error  # a mistake of ours must surface as what it is
        reason = self.reason(error)
        if self._lasts(error):
            return BackendRejected(f"{doing}: {reason}")
        return BackendUnavailable(f"{doing}: {reason}; try again")

    def _lasts(self, error: Exception) -> bool:
        if isinstance(error, boto.ClientError):
            code = code_of(error)
            if self.passes(code):
                return False
            return code in self._lasting or 300 <= status_of(error) < 429
        if isinstance(error, (*NOT_SENT, *CREDENTIALS_LATE)):
            return False
        return not (isinstance(error, NO_ANSWER) and "CERTIFICATE" not in str(error))

    def passes(self, code: str) -> bool:
        """Whether an error of this name heals without anybody's doing at the server."""
        return code in self._passing

    def reason(self, error: Exception) -> str:
        """What happened and what to do, without secrets."""
        code = code_of(error)
        if known := self._lasting.get(code) or self._passing.get(code):
            return f"{known} ({code})"
        if isinstance(error, boto.ClientError):
            said = " ".join(str(error.response.get("Error", {}).get("Message", "")).split())
            return f"the server answered {status_of(error)} {code} {said[:200]}".rstrip()
        if isinstance(error, _NO_CREDENTIALS):
            return f"no AWS credentials were found: set {SETTINGS}"
        if isinstance(error, NOT_SENT):
            return (
                f"the server cannot be reached ({type(error).__name__}): see that it runs and that "
                "endpoint and region are right"
            )
        if isinstance(error, NO_ANSWER):
            return f"the server's answer broke off or did not come ({type(error).__name__})"
        # The texts of the driver's own errors may quote settings, and among them secrets.
        return type(error).__name__


def status_of(error: Exception) -> int:
    """The HTTP status of an answered request, else 0."""
    if not isinstance(error, boto.ClientError):
        return 0
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def code_of(error: Exception) -> str:
    """The service's name for the error of an answered request, else empty.

    SQS says some names in two forms, `AWS.SimpleQueueService.…` and the short one.
    """
    if not isinstance(error, boto.ClientError):
        return ""
    said = error.response.get("Error", {})
    return str(said.get("QueryErrorCode") or said.get("Code", "")).rpartition(".")[2]
