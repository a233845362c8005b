"""The driver's client of one bucket, set so that no write is repeated behind our back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ferryman.backends.aws.client import Client as AwsClient
from ferryman.errors import BackendRejected

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from ferryman.backends.s3.patience import Patience


class Client(AwsClient):
    """The client of S3, or of a store that speaks like it."""

    def __init__(self, patience: Patience, *, endpoint: str | None, region: str | None) -> None:
        # Names such as http://minio:9000 have no sub-domain for each bucket.
        by_path = {} if endpoint is None else {"s3": {"addressing_style": "path"}}
        super().__init__(
            "s3",
            endpoint=endpoint,
            region=region,
            connect=patience.connect,
            answer=patience.answer,
            # A conditional write that is repeated after a lost answer is refused because of
            # itself: only `Bucket`, which reads back, may repeat.
            tries=1,
            # Stores that are not AWS refuse checksums that nobody asked for.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            **by_path,
        )

    def get(self) -> S3Client:
        return cast("S3Client", super().get())

    def _make(self) -> Any:
        try:
            client = super()._make()
        except ValueError as error:
            raise BackendRejected(
                f"{error}: write https://host or http://host:port into endpoint=…, "
                "AWS_ENDPOINT_URL or the profile, whichever has it"
            ) from None
        client.meta.events.register_last("before-call.s3", _send_at_once)
        return client


def _send_at_once(params: dict[str, Any], **_: object) -> None:
    # Asking leave before each body (100-continue) is a round trip more, and our bodies are small.
    params["headers"].pop("Expect", None)
