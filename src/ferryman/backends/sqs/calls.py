"""Requests to SQS, in batches of ten: each entry has an answer of its own."""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ferryman.backends.aws.client import Client
from ferryman.backends.aws.errors import DRIVER_ERRORS
from ferryman.backends.sqs.errors import is_missing, refused_entry, wording
from ferryman.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mypy_boto3_sqs import SQSClient

    from ferryman.backends.sqs.location import Location

    T = TypeVar("T")
    U = TypeVar("U")

BATCH: Final = 10
LONG: Final = 20
"""Seconds that a request may wait for messages."""
LONGEST_HOLD: Final = 43_200
"""Seconds for which a message can be hidden, all prolongations together."""
THREADS: Final = 16
"""Requests that are under way at a time, long polls apart."""

_NAME: Final = "ferryman-sqs-request"
# Queues that are older, and some servers, take no more than this in one request.
_BATCH_BYTES: Final = 256 * 1024
_ROUNDS: Final = 4
_PAUSE: Final = 0.05

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that was received: nobody else sees it until `until`, by the monotonic clock.

    `place` is the URL of the SQS queue that it is from, `queue` our name. `count` is how often it
    was received, this time included; `received` is when that was asked for.
    """

    place: str
    queue: str
    message_id: str
    handle: str
    body: str
    count: int
    received: float
    until: float


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send, visible after `delay` whole seconds."""

    place: str
    body: str
    delay: int = 0


class Calls:
    """Speaks with SQS. Messages may be sent twice: whoever receives them knows their ids."""

    def __init__(self, location: Location, *, answer: float = 8.0, tries: int = 4) -> None:
        where = {"endpoint": location.endpoint, "region": location.region}
        self._client = Client("sqs", **where, connect=3.0, answer=answer, tries=tries)
        self._patient = Client("sqs", **where, connect=3.0, answer=LONG + answer, tries=1)
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def find(self, name: str) -> str | None:
        """The URL of a queue; None if there is none."""
        try:
            found = self._sqs.get_queue_url(QueueName=name)
        except DRIVER_ERRORS as error:
            if is_missing(error):
                return None
            raise wording.translate(error, f"GetQueueUrl {name}") from error
        return str(found["QueueUrl"])

    def create(self, name: str, attributes: Mapping[str, str]) -> str:
        """The URL of a queue, which is made if it is not there."""
        try:
            made = self._sqs.create_queue(QueueName=name, Attributes=dict(attributes))  # type: ignore[arg-type]
        except DRIVER_ERRORS as error:
            raise wording.translate(error, f"CreateQueue {name}") from error
        return str(made["QueueUrl"])

    def listed(self, prefix: str) -> Sequence[str]:
        """The URLs of the queues whose names start so."""
        places: list[str] = []
        more: dict[str, Any] = {}
        while True:
            try:
                page = self._sqs.list_queues(QueueNamePrefix=prefix, MaxResults=1000, **more)
            except DRIVER_ERRORS as error:
                raise wording.translate(error, f"ListQueues {prefix}") from error
            places += page.get("QueueUrls", [])
            if not page.get("NextToken"):
                return places
            more = {"NextToken": page["NextToken"]}

    def attributes(self, place: str) -> Mapping[str, str]:
        """All that SQS says about a queue."""
        try:
            said = self._sqs.get_queue_attributes(QueueUrl=place, AttributeNames=["All"])
        except DRIVER_ERRORS as error:
            raise wording.translate(error, f"GetQueueAttributes {place}") from error
        return {str(name): value for name, value in said.get("Attributes", {}).items()}

    def purge(self, place: str) -> None:
        """Delete all messages of a queue."""
        try:
            self._sqs.purge_queue(QueueUrl=place)
        except DRIVER_ERRORS as error:
            raise wording.translate(error, f"PurgeQueue {place}") from error

    def send(self, messages: Sequence[Outgoing]) -> Sequence[Exception | None]:
        """What went wrong with each message, in order: None was sent."""
        entries = [
            (one.place, {"MessageBody": one.body, "DelaySeconds": one.delay}) for one in messages
        ]
        return self._batches("SendMessageBatch", entries)

    def receive(
        self, place: str, queue: str, limit: int, *, hold: int, wait: int = 0
    ) -> Sequence[Delivery]:
        """At most ten messages, hidden from others for `hold` seconds."""
        sqs = self._patient.get() if wait else self._sqs
        asked = time.monotonic()
        try:
            answer = sqs.receive_message(
                QueueUrl=place,
                MaxNumberOfMessages=min(BATCH, limit),
                VisibilityTimeout=hold,
                WaitTimeSeconds=wait,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        except DRIVER_ERRORS as error:
            raise wording.translate(error, f"ReceiveMessage {place}") from error
        return [
            Delivery(
                place,
                queue,
                message["MessageId"],
                message["ReceiptHandle"],
                message["Body"],
                int(message.get("Attributes", {}).get("ApproximateReceiveCount", 1)),
                asked,
                asked + hold,
            )
            for message in answer.get("Messages", ())
        ]

    def delete(self, deliveries: Sequence[Delivery]) -> Sequence[Exception | None]:
        """What went wrong with each, in order."""
        entries: list[tuple[str, Entry]] = [
            (one.place, {"ReceiptHandle": one.handle}) for one in deliveries
        ]
        return self._batches("DeleteMessageBatch", entries)

    def delete_beside(self, deliveries: Sequence[Delivery]) -> None:
        """Delete while others go on: one that cannot be deleted is shown again, and met then."""
        by_place = sorted(deliveries, key=lambda one: one.place)
        for start in range(0, len(by_place), BATCH):
            self._threads().submit(self.delete, by_place[start : start + BATCH])

    def hide(
        self, deliveries: Sequence[Delivery], seconds: Sequence[int]
    ) -> Sequence[Exception | None]:
        """Let nobody see each for so long from now; what went wrong with each, in order."""
        entries: list[tuple[str, Entry]] = [
            (one.place, {"ReceiptHandle": one.handle, "VisibilityTimeout": each})
            for one, each in zip(deliveries, seconds, strict=True)
        ]
        return self._batches("ChangeMessageVisibilityBatch", entries)

    def each(self, act: Callable[[T], U], items: Iterable[T]) -> Sequence[U]:
        """Do one thing for several at once; all are done before the first error is raised."""
        items = list(items)
        # A thread of the pool that waited for others of it might wait for itself.
        inside = threading.current_thread().name.startswith(_NAME)
        if len(items) < 2 or inside:
            return [act(item) for item in items]
        futures = [self._threads().submit(act, item) for item in items]
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors:
            raise errors[0]
        return [future.result() for future in futures]

    def close(self) -> None:
        made, self._pool = self._pool, None
        if made is not None and made[0] == os.getpid():
            made[1].shutdown()
        self._client.close()
        self._patient.close()

    @property
    def _sqs(self) -> SQSClient:
        return self._client.get()  # type: ignore[no-any-return]

    def _threads(self) -> ThreadPoolExecutor:
        made = self._pool
        if made is None or made[0] != os.getpid():
            made = self._pool = (os.getpid(), ThreadPoolExecutor(THREADS, _NAME))
        return made[1]

    def _batches(
        self, verb: str, entries: Sequence[tuple[str, Entry]]
    ) -> Sequence[Exception | None]:
        """An entry that the service could not do this time is tried again, the others are not."""
        errors: list[Exception | None] = [None] * len(entries)
        left: Sequence[int] = range(len(entries))
        for number in range(_ROUNDS):
            if number:
                time.sleep(random.uniform(0, _PAUSE * 2**number))  # noqa: S311
            batches = list(_packed(entries, left))
            answers = self.each(lambda batch: self._batch(verb, entries, batch), batches)
            left = []
            for batch, failed in zip(batches, answers, strict=True):
                for index in batch:
                    errors[index] = failed.get(index)
                    if isinstance(errors[index], BackendUnavailable) and not _whole(failed, batch):
                        left.append(index)
            if not left:
                break
        return errors

    def _batch(
        self, verb: str, entries: Sequence[tuple[str, Entry]], batch: Sequence[int]
    ) -> Mapping[int, Exception]:
        """The errors of one request, by the index of the entry."""
        place = entries[batch[0]][0]
        named = [{"Id": str(index), **entries[index][1]} for index in batch]
        call = {
            "SendMessageBatch": self._sqs.send_message_batch,
            "DeleteMessageBatch": self._sqs.delete_message_batch,
            "ChangeMessageVisibilityBatch": self._sqs.change_message_visibility_batch,
        }[verb]
        doing = f"{verb} {place}"
        try:
            answer: Any = call(QueueUrl=place, Entries=named)  # type: ignore[operator]
        except DRIVER_ERRORS as error:
            return dict.fromkeys(batch, wording.translate(error, doing))
        done = {str(entry["Id"]) for entry in answer.get("Successful", ())}
        failed = {str(entry["Id"]): entry for entry in answer.get("Failed", ())}
        # An entry that is in neither list was not done, as far as anybody can say.
        silent: Mapping[str, object] = {"Code": "InternalError", "Message": "was not answered for"}
        return {
            index: refused_entry(failed.get(str(index), silent), doing)
            for index in batch
            if str(index) not in done
        }


def _whole(failed: Mapping[int, Exception], batch: Sequence[int]) -> bool:
    """Whether the request failed as one: the driver has tried that again already."""
    return len(batch) == len(failed) and len({id(error) for error in failed.values()}) == 1


def _packed(
    entries: Sequence[tuple[str, Entry]], indexes: Iterable[int]
) -> Iterator[Sequence[int]]:
    """Batches of one queue each, as large as a request may be."""
    by_place: dict[str, list[int]] = {}
    for index in indexes:
        by_place.setdefault(entries[index][0], []).append(index)
    for mine in by_place.values():
        batch: list[int] = []
        size = 0
        for index in mine:
            more = len(entries[index][1].get("MessageBody", ""))
            if batch and (len(batch) == BATCH or size + more > _BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(index)
            size += more
        yield batch
