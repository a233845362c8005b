"""The limit of SQS: sent, received and deleted by ten, by as many threads as ours."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from bench.contender import Cycling
from bench.sqs_server import prefix_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from threading import Event

    from bench.contender import Handler, Payload

TEN: Final = 10
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class RawSqs(Cycling):
    """Our driver with our settings; a message is its payload, and to delete it is to end it."""

    def __init__(self, folder: Path, handle: Handler) -> None:
        from ferryman.backends.aws.client import Client
        from ferryman.backends.sqs.calls import THREADS

        super().__init__(folder, handle)
        where = {"endpoint": None, "region": "us-east-1"}
        self._client = Client("sqs", **where, connect=3.0, answer=8.0, tries=4)
        self._sqs: Any = self._client.get()
        self._place = self._sqs.create_queue(QueueName=f"{prefix_of(folder)}-raw")["QueueUrl"]
        self._size = THREADS
        self._threads = ThreadPoolExecutor(THREADS)

    def push(self, payload: Payload) -> None:
        self.push_many([payload])

    def push_many(self, payloads: Sequence[Payload]) -> None:
        starts = range(0, len(payloads), TEN)
        list(self._threads.map(lambda start: self._send(payloads[start : start + TEN]), starts))

    def prepare(self, payloads: Sequence[Payload]) -> Sequence[object]:
        return payloads

    def cycle(self, prepared: Sequence[object]) -> int:
        self.push_many([{} for _ in prepared])
        starts = range(0, len(prepared), TEN)
        return sum(self._threads.map(lambda _: self._turn(), starts))

    def unfinished(self) -> int:
        asked = {"QueueUrl": self._place, "AttributeNames": ["All"]}
        said = self._sqs.get_queue_attributes(**asked)["Attributes"]
        return sum(int(said[name]) for name in _COUNTS)

    def work(self, stop: Event) -> None:
        def run(_: int) -> None:
            while not stop.is_set():
                self._turn()

        list(self._threads.map(run, range(self._size)))

    def close(self) -> None:
        self._threads.shutdown()
        self._client.close()

    def _send(self, payloads: Sequence[Payload]) -> None:
        entries = [
            {"Id": str(number), "MessageBody": json.dumps(one)}
            for number, one in enumerate(payloads)
        ]
        answer = self._sqs.send_message_batch(QueueUrl=self._place, Entries=entries)
        if len(answer["Successful"]) != len(payloads):
            raise RuntimeError(f"a batch was not whole: {answer}")

    def _turn(self) -> int:
        """Receive, handle and delete ten."""
        answer = self._sqs.receive_message(QueueUrl=self._place, MaxNumberOfMessages=TEN)
        messages = answer.get("Messages", [])
        for message in messages:
            self.handle(json.loads(message["Body"]))
        if messages:
            entries = [
                {"Id": str(number), "ReceiptHandle": one["ReceiptHandle"]}
                for number, one in enumerate(messages)
            ]
            self._sqs.delete_message_batch(QueueUrl=self._place, Entries=entries)
        return len(messages)
