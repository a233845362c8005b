"""Bodies that are too large for a message, each an object in S3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ferryman.backends.aws.client import Client
from ferryman.backends.aws.errors import DRIVER_ERRORS, Wording
from ferryman.ids import new_id

if TYPE_CHECKING:
    from ferryman.backends.sqs.location import Location

_wording: Final = Wording(
    lasting={
        "NoSuchBucket": "there is no such bucket: create it, or correct bodies= in the URL",
        "AccessDenied": "access is denied: allow s3:GetObject, PutObject and DeleteObject there",
        "NoSuchKey": "the body is gone: somebody deleted it before its job was done",
    },
    passing={"SlowDown": "the service wants fewer requests"},
)


class Bodies:
    """Keeps texts below one prefix of a bucket."""

    def __init__(self, url: str, location: Location) -> None:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        settings: dict[str, Any] = {}
        if location.endpoint is not None:
            settings["s3"] = {"addressing_style": "path"}
        self._client = Client(
            "s3",
            endpoint=location.endpoint,
            region=location.region,
            connect=3.0,
            answer=20.0,
            tries=4,
            **settings,
        )

    def put(self, body: str) -> str:
        """Store a body before its message is sent; the key to it."""
        key = f"{self._prefix}{new_id()}.json"
        self._call("put_object", key, Body=body.encode())
        return key

    def get(self, key: str) -> str:
        answer = self._call("get_object", key)
        try:
            return str(answer["Body"].read().decode())
        except DRIVER_ERRORS as error:
            raise _wording.translate(error, f"get_object {self._bucket}/{key}") from error

    def delete(self, key: str) -> None:
        self._call("delete_object", key)

    def close(self) -> None:
        self._client.close()

    def _call(self, verb: str, key: str, **options: Any) -> Any:
        try:
            return getattr(self._client.get(), verb)(Bucket=self._bucket, Key=key, **options)
        except DRIVER_ERRORS as error:
            raise _wording.translate(error, f"{verb} {self._bucket}/{key}") from error
