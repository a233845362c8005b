"""What SQS does on a bad day, seeded: twice, out of order, again after all, in part, not now.

weather = Weather(line)
weather.expect(throttled, "SendMessageBatch")
weather.storm([seen_twice, shuffled], chance=0.3)
"""

from __future__ import annotations

import http.client
import json
import random
import threading
from typing import TYPE_CHECKING, Any

from tests.servers.line import FOREVER, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.servers.line import Exchange, Line

    Misfortune = Callable[["Request"], None]


class Request:
    """One call of SQS on its way."""

    def __init__(self, exchange: Exchange, chance: random.Random) -> None:
        self.exchange = exchange
        self.chance = chance
        headers = {name.lower(): value for name, value in exchange.headers}
        self.verb = headers.get("x-amz-target", "").partition(".")[2]
        self.said: dict[str, Any] = json.loads(exchange.body or b"{}")

    @property
    def entries(self) -> list[dict[str, Any]]:
        return list(self.said.get("Entries", []))

    def forward(self, **changed: Any) -> dict[str, Any]:
        """What the server answers to the request, or to a changed one."""
        self.exchange.body = json.dumps({**self.said, **changed}).encode()
        self.reply = self.exchange.forward()
        return dict(json.loads(self.reply.body or b"{}"))

    def answer(self, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode()
        self.exchange.answer(Reply(200, [("Content-Type", "application/x-amz-json-1.0")], body))

    def refuse(self, status: int, code: str, text: str = "not now") -> None:
        body = json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": text}).encode()
        self.exchange.answer(Reply(status, [("Content-Type", "application/x-amz-json-1.0")], body))

    def also(self, verb: str, **said: Any) -> None:
        """Let the server do something besides, which nobody asked for."""
        upstream = self.exchange.line.upstream
        connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port, timeout=30)
        headers = dict(self.exchange.headers) | {"X-Amz-Target": f"AmazonSQS.{verb}"}
        headers = {n: v for n, v in headers.items() if n.lower() != "content-length"}
        connection.request("POST", "/", json.dumps(said), headers)
        connection.getresponse().read()
        connection.close()


class Weather:
    """Misfortunes on a line to SQS, by the line's seed; `met` counts them by name."""

    def __init__(self, line: Line) -> None:
        self._chance = random.Random(line.seed)
        self._lock = threading.Lock()
        self._rules: list[tuple[Misfortune, str | None, list[int], float]] = []
        self.met: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        line.fault(self._act, times=FOREVER)

    def expect(self, misfortune: Misfortune, verb: str | None = None, times: int = 1) -> None:
        """Let it befall the next so many calls of a verb."""
        with self._lock:
            self._rules.append((misfortune, verb, [times], 1.0))

    def storm(self, misfortunes: Sequence[Misfortune], chance: float) -> None:
        """Let any of them befall any call that it fits, until `calm`."""
        for misfortune in misfortunes:
            with self._lock:
                self._rules.append((misfortune, None, [FOREVER], chance / len(misfortunes)))

    def calm(self) -> None:
        with self._lock:
            self._rules.clear()

    def _act(self, exchange: Exchange) -> None:
        request = Request(exchange, self._chance)
        with self._lock:
            self.calls[request.verb] = self.calls.get(request.verb, 0) + 1
            misfortune = self._next(request.verb)
        if misfortune is None:
            exchange.answer(exchange.forward())
        else:
            misfortune(request)

    def _next(self, verb: str) -> Misfortune | None:
        for misfortune, of_verb, times, chance in self._rules:
            fits = of_verb in (None, verb) and verb in getattr(misfortune, "verbs", (verb,))
            if fits and times[0] > 0 and self._chance.random() < chance:
                times[0] -= 1
                name = getattr(misfortune, "__name__", "misfortune")
                self.met[name] = self.met.get(name, 0) + 1
                return misfortune
        return None


def befalls(*verbs: str) -> Callable[[Misfortune], Misfortune]:
    def mark(misfortune: Misfortune) -> Misfortune:
        misfortune.verbs = verbs  # type: ignore[attr-defined]
        return misfortune

    return mark


@befalls("SendMessageBatch")
def sent_twice(request: Request) -> None:
    """The answer was lost somewhere, and somebody sent it again."""
    request.forward()
    request.answer(request.forward())


@befalls("SendMessageBatch")
def soon(request: Request) -> None:
    """No delay is longer than a second: for a test that need not wait for a minute."""
    short = [{**one, "DelaySeconds": min(1, one["DelaySeconds"])} for one in request.entries]
    request.answer(request.forward(Entries=short))


@befalls("ReceiveMessage")
def seen_twice(request: Request) -> None:
    """What was received is shown to the next who asks, too."""
    said = request.forward()
    for message in said.get("Messages", []):
        handle = {"ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0}
        request.also("ChangeMessageVisibility", QueueUrl=request.said["QueueUrl"], **handle)
    request.answer(said)


@befalls("ReceiveMessage", "SendMessageBatch")
def shuffled(request: Request) -> None:
    """Order means nothing."""
    if request.verb == "SendMessageBatch":
        entries = request.entries
        request.chance.shuffle(entries)
        request.answer(request.forward(Entries=entries))
        return
    said = request.forward()
    request.chance.shuffle(said.get("Messages", []))
    request.answer(said)


@befalls("DeleteMessageBatch")
def back_after_delete(request: Request) -> None:
    """One of the servers did not hear of the deletion, and delivers the message again."""
    for entry in request.entries:
        handle = {"ReceiptHandle": entry["ReceiptHandle"], "VisibilityTimeout": 0}
        request.also("ChangeMessageVisibility", QueueUrl=request.said["QueueUrl"], **handle)
    request.answer({"Successful": [{"Id": entry["Id"]} for entry in request.entries]})


@befalls("SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch")
def done_in_part(request: Request) -> None:
    """Half of the entries fail, through nobody's fault."""
    entries = request.entries
    request.chance.shuffle(entries)
    half = (len(entries) + 1) // 2
    said = request.forward(Entries=entries[half:]) if entries[half:] else {}
    failed = [
        {"Id": entry["Id"], "SenderFault": False, "Code": "InternalError", "Message": "oops"}
        for entry in entries[:half]
    ]
    request.answer({**said, "Failed": [*said.get("Failed", []), *failed]})


def throttled(request: Request) -> None:
    request.refuse(400, "ThrottlingException", "Rate exceeded")


def token_expired(request: Request) -> None:
    request.refuse(403, "ExpiredToken", "The security token included in the request is expired")


def denied(request: Request) -> None:
    request.refuse(403, "AccessDeniedException", "User is not authorized")


def unavailable(request: Request) -> None:
    request.refuse(503, "ServiceUnavailable")
