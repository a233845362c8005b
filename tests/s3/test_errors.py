"""What a user is told when the server refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ferryman.backends.s3.errors import NotImplementedThere
from ferryman.errors import BackendRejected, BackendUnavailable, OutcomeUnknown
from tests.servers import faults
from tests.servers.line import FOREVER, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferryman.backends.s3.bucket import Bucket
    from tests.servers.line import Line
    from tests.servers.shared import Server

LASTING = {
    "AccessDenied": (403, "s3:PutObject"),
    "InvalidAccessKeyId": (403, "access key"),
    "SignatureDoesNotMatch": (403, "secret key"),
    "NoSuchBucket": (404, "create it"),
    "AuthorizationHeaderMalformed": (400, "region"),
    "MalformedXML": (400, "MalformedXML"),
}
PASSING = {
    "ExpiredToken": (400, "renew"),
    "RequestTimeTooSkewed": (403, "NTP"),
}


@pytest.mark.parametrize("code", LASTING)
def test_a_lasting_refusal_says_where_and_what_to_do(
    code: str, line: Line, steady: Bucket, key: str
) -> None:
    status, advice = LASTING[code]
    line.fault(faults.error_before(status, code), times=FOREVER)
    for act in (steady.get, steady.delete, lambda key: steady.put_new(key, b"body")):
        with pytest.raises(BackendRejected, match=advice) as caught:
            act(key)
        assert f"s3://{steady.name}/{key}" in str(caught.value)
    assert sum(steady.requests.values()) == 3


@pytest.mark.parametrize("code", PASSING)
def test_a_refusal_that_heals_by_itself_is_an_outage(
    code: str, line: Line, steady: Bucket, key: str
) -> None:
    status, advice = PASSING[code]
    line.fault(faults.error_before(status, code), times=FOREVER)
    with pytest.raises(BackendUnavailable, match=advice) as caught:
        steady.put_new(key, b"body")
    assert not isinstance(caught.value, OutcomeUnknown)


def test_a_refusal_after_a_lost_answer_is_unknown(line: Line, steady: Bucket, key: str) -> None:
    line.fault(faults.error_after(500), method="PUT")
    line.fault(faults.error_before(403, "AccessDenied"), method="GET", times=FOREVER)
    with pytest.raises(OutcomeUnknown, match="s3:GetObject"):
        steady.put_new(key, b"body")


def test_what_an_endpoint_does_not_know_is_told_apart(line: Line, steady: Bucket, key: str) -> None:
    line.fault(faults.error_before(501, "NotImplemented"), times=FOREVER)
    with pytest.raises(NotImplementedThere):
        steady.delete(key, '"etag"')


def test_a_missing_bucket_is_no_missing_object(
    ministack: Server, connect: Callable[..., Bucket], key: str
) -> None:
    bucket = connect(ministack.address, name="no-such-bucket")
    for act in (bucket.get, lambda key: bucket.put_over(key, b"body", '"etag"')):
        with pytest.raises(BackendRejected, match="create it"):
            act(key)


def test_missing_credentials_say_how_to_give_them(
    ministack: Server, connect: Callable[..., Bucket], monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = connect(ministack.address)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(BackendRejected, match="AWS_ACCESS_KEY_ID"):
        bucket.get("key")


def test_no_message_holds_a_secret(
    line: Line, faulty: Bucket, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAVISIBLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "hunter2token")
    for fault in (
        faults.error_before(403, "SignatureDoesNotMatch"),
        faults.error_before(500),
        faults.cut_before,
        faults.silent_before,
    ):
        line.calm()
        line.fault(fault, times=FOREVER)
        with pytest.raises((BackendRejected, BackendUnavailable)) as caught:
            faulty.put_new(key, b"body")
        assert not any(word in str(caught.value) for word in ("hunter2", "AKIAVISIBLE"))


@pytest.mark.parametrize(
    ("code", "error"), [("AccessDenied", BackendRejected), ("InternalError", BackendUnavailable)]
)
def test_a_key_of_many_that_is_not_deleted_is_an_error(
    code: str, error: type[Exception], line: Line, steady: Bucket, key: str
) -> None:
    left = f"<Error><Key>{key}</Key><Code>{code}</Code></Error>"
    reply = Reply(200, body=f"<DeleteResult>{left}</DeleteResult>".encode())
    line.fault(lambda exchange: exchange.answer(reply), method="POST", times=FOREVER)
    with pytest.raises(error, match=f"{key}.*{code}"):
        steady.delete_many([key])


def test_a_key_of_many_that_fails_once_is_deleted_again(
    line: Line, steady: Bucket, other: Bucket, key: str
) -> None:
    other.put(key, b"body")
    left = f"<Error><Key>{key}</Key><Code>InternalError</Code></Error>"
    reply = Reply(200, body=f"<DeleteResult>{left}</DeleteResult>".encode())
    line.fault(lambda exchange: exchange.answer(reply), method="POST")
    steady.delete_many([key])
    assert other.get(key) is None
