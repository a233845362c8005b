"""OpenTelemetry spans for pushes and attempts. Needs `ferryman[otel]`, and the SDK of your choice.

Only the API of OpenTelemetry is used: without a configured SDK its spans cost nothing and go
nowhere.
"""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from ferryman.errors import Unsupported
from ferryman.lifecycle import Verdict
from ferryman.message import MAX_META
from ferryman.telemetry.redaction import redacted_text

try:
    from opentelemetry import trace as api
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError as missing:
    raise Unsupported("tracing needs OpenTelemetry: pip install 'ferryman[otel]'") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferryman.ferry import Ferry
    from ferryman.job import Job
    from ferryman.message import Message
    from ferryman.queue.settlement import Settlement

TRACE_META: Final = "traceparent"
"""The name in a job's `meta` under which it carries the span that pushed it (W3C Trace Context)."""

_PROPAGATOR: Final = TraceContextTextMapPropagator()
_FAILED: Final = (Verdict.NACK, Verdict.FAIL)


def trace(ferry: Ferry, provider: api.TracerProvider | None = None) -> None:
    """Put spans around what this Ferry pushes and runs, from now on; call it once, before workers.

    `provider` is where they go; default: the one that OpenTelemetry was configured with.
    """
    ferry.tracing = Spans(api.get_tracer("ferryman", version("ferryman"), provider))


class Spans:
    """A span `push <queue>` for each push, a span `process <queue>` for each attempt.

    An attempt begins a trace of its own with a link to the push: it may come days later, and many
    times. Names and attributes are those of OpenTelemetry's messaging conventions.
    """

    def __init__(self, tracer: api.Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def sending(self, messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
        span = self._tracer.start_span(
            _name("push", messages),
            kind=api.SpanKind.PRODUCER,
            attributes=_attributes("push", "send", messages),
        )
        with _ending(span):
            carrier: dict[str, str] = {}
            _PROPAGATOR.inject(carrier)
            yield [_marked(message, carrier) for message in messages]

    @contextmanager
    def processing(self, jobs: Sequence[Job]) -> Iterator[Callable[[Sequence[Settlement]], None]]:
        span = self._tracer.start_span(
            _name("process", jobs),
            # Not a child of whatever this thread did before.
            context=Context(),
            kind=api.SpanKind.CONSUMER,
            links=[link for job in jobs if (link := _link(job)) is not None],
            attributes={
                **_attributes("process", "process", jobs),
                "ferryman.attempt": max(job.attempts for job in jobs),
            },
        )
        with _ending(span):
            yield lambda settlements: _end(span, settlements)


def _name(operation: str, items: Sequence[Message] | Sequence[Job]) -> str:
    queues = {item.queue for item in items}
    return f"{operation} {queues.pop()}" if len(queues) == 1 else operation


def _attributes(
    operation: str, kind: str, items: Sequence[Message] | Sequence[Job]
) -> dict[str, Any]:
    """What all of them share; what differs between them is left out."""
    found: dict[str, Any] = {
        "messaging.system": "ferryman",
        "messaging.operation.name": operation,
        "messaging.operation.type": kind,
    }
    if len(items) > 1:
        found["messaging.batch.message_count"] = len(items)
    shared: dict[str, set[Any]] = {
        "messaging.destination.name": {item.queue for item in items},
        "messaging.message.id": {item.id for item in items},
        "messaging.message.conversation_id": {item.correlation_id for item in items},
        "ferryman.task": {item.task for item in items},
    }
    for name, values in shared.items():
        if len(values) == 1 and (value := values.pop()) is not None:
            found[name] = value
    return found


def _marked(message: Message, carrier: dict[str, str]) -> Message:
    """The message with its origin; one that has an origin already, or no room for it, as it is."""
    origin = carrier.get(TRACE_META)
    if origin is None or TRACE_META in message.meta or len(message.meta) >= MAX_META:
        return message
    return replace(message, meta={**message.meta, TRACE_META: origin})


def _link(job: Job) -> api.Link | None:
    origin = job.meta.get(TRACE_META)
    if origin is None:
        return None
    context = _PROPAGATOR.extract({TRACE_META: origin}, Context())
    found = api.get_current_span(context).get_span_context()
    return api.Link(found) if found.is_valid else None


def _end(span: api.Span, settlements: Sequence[Settlement]) -> None:
    verdicts = {str(settlement.verdict) for settlement in settlements}
    span.set_attribute("ferryman.verdict", ",".join(sorted(verdicts)))
    for settlement in settlements:
        error = settlement.error
        if error is not None and settlement.verdict in _FAILED:
            _raised(span, error.kind, error.text, error.traceback)


@contextmanager
def _ending(span: api.Span) -> Iterator[None]:
    """Makes the span the current one until it ends. OpenTelemetry itself would hide no secrets."""
    with api.use_span(
        span, end_on_exit=True, record_exception=False, set_status_on_exception=False
    ):
        try:
            yield
        except Exception as error:
            _raised(span, type(error).__qualname__, str(error), traceback.format_exc())
            raise


def _raised(span: api.Span, kind: str, text: str, stack: str | None) -> None:
    shown = redacted_text(text)
    facts = {"exception.type": kind, "exception.message": shown}
    if stack is not None:
        facts["exception.stacktrace"] = redacted_text(stack)
    span.add_event("exception", facts)
    span.set_attribute("error.type", kind)
    span.set_status(api.StatusCode.ERROR, shown)
