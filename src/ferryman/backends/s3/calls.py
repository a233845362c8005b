"""Single requests to one bucket: counted, timed, and never repeated."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from ferryman.backends.s3.answers import Entry, Object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferryman.backends.s3.client import Client
    from ferryman.backends.s3.clock import ServerClock
    from ferryman.backends.s3.tally import Tally

MOST_DELETED: Final = 1_000
"""Keys in one request that deletes many."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a listing; `more` says that it goes on, at `token` if the server gave one."""

    entries: Sequence[Entry]
    more: bool
    token: str | None


class Calls:
    """Each method is one request; what the driver raises passes through."""

    def __init__(self, bucket: str, client: Client, clock: ServerClock, tally: Tally) -> None:
        self._bucket = bucket
        self._client = client
        self._clock = clock
        self.tally = tally

    @property
    def endpoint(self) -> str:
        """Where requests go. No request: the driver knows it from the URL or from its settings."""
        return str(self._client.get().meta.endpoint_url)

    def get(self, key: str) -> Object:
        with self._request("get") as heard:
            answer = self._client.get().get_object(Bucket=self._bucket, Key=key)
            heard.append(answer)
            # Read in here: the body may break off like any other part of the answer.
            body = answer["Body"].read()
        return Object(body, _etag(answer), answer["LastModified"].timestamp())

    def put(self, key: str, body: bytes, condition: Mapping[str, str]) -> str:
        with self._request("put") as heard:
            answer = self._client.get().put_object(
                Bucket=self._bucket,
                Key=key,
                Body=body,
                ContentType="application/json",
                **condition,  # type: ignore[arg-type]
            )
            heard.append(answer)
        return _etag(answer)

    def delete(self, key: str, condition: Mapping[str, str]) -> None:
        with self._request("delete") as heard:
            heard.append(
                self._client.get().delete_object(
                    Bucket=self._bucket,
                    Key=key,
                    **condition,  # type: ignore[arg-type]
                )
            )

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete up to `MOST_DELETED` keys; one that is refused is raised like a single one."""
        with self._request("delete") as heard:
            answer = self._client.get().delete_objects(
                Bucket=self._bucket,
                Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True},
            )
            heard.append(answer)
        for error in answer.get("Errors", ()):
            code = error.get("Code", "")
            if code != "NoSuchKey":
                status = 403 if code == "AccessDenied" else 503
                said = {"Code": code, "Message": f"for {error.get('Key')}"}
                raise ClientError(
                    {"Error": said, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
                    "DeleteObjects",
                )

    def page(self, prefix: str, *, after: str | None, token: str | None, size: int) -> Page:
        """A listing's next part; an answer that does not say whether it is whole is refused."""
        place = {"ContinuationToken": token} if token else {"StartAfter": after} if after else {}
        with self._request("list") as heard:
            answer: Mapping[str, Any] = self._client.get().list_objects_v2(
                Bucket=self._bucket,
                Prefix=prefix,
                MaxKeys=size,
                **place,  # type: ignore[arg-type]
            )
            heard.append(answer)
        contents = answer.get("Contents", [])
        if "IsTruncated" not in answer or answer.get("KeyCount", len(contents)) != len(contents):
            raise ResponseParserError("the listing is cut short")
        entries = [
            Entry(found["Key"], found["ETag"], found["Size"], found["LastModified"].timestamp())
            for found in contents
        ]
        return Page(entries, answer["IsTruncated"], answer.get("NextContinuationToken"))

    @contextmanager
    def _request(self, kind: str) -> Iterator[list[Any]]:
        self.tally.add(kind)
        heard: list[Any] = []
        sent = self._clock.monotonic()
        try:
            yield heard
        except ClientError as error:
            heard.append(error.response)
            raise
        finally:
            received = self._clock.monotonic()
            for answer in heard[:1]:
                headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
                self._clock.hear(headers.get("date"), sent, received)


def _etag(answer: Mapping[str, Any]) -> str:
    etag = answer.get("ETag")
    if not etag:
        raise ResponseParserError("the answer holds no ETag")
    return str(etag)
