"""Spans: one for each push and each attempt, linked, with the errors of handlers in them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from ferryman import Ferry, Message, Retry, Settings, trace
from ferryman.telemetry.tracing import TRACE_META

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan


@pytest.fixture
def provider() -> TracerProvider:
    return TracerProvider()


@pytest.fixture
def exporter(provider: TracerProvider) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture(params=["memory", "sqlite"])
def ferry(
    request: pytest.FixtureRequest, tmp_path: Path, provider: TracerProvider
) -> Iterator[Ferry]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/jobs.db"
    with Ferry(url, lease=2.0) as ferry:
        trace(ferry, provider)
        yield ferry


def spans(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_an_attempt_is_linked_to_the_push_and_is_not_its_child(
    ferry: Ferry, exporter: InMemorySpanExporter
) -> None:
    @ferry.task(queue="mail")
    def send(to: str) -> None: ...

    handle = send.using(correlation_id="c-1").push("ada")
    ferry.run_batch(1)
    [push], [process] = spans(exporter, "push mail"), spans(exporter, "process mail")
    assert (push.kind, process.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert process.parent is None
    assert [link.context.span_id for link in process.links] == [push.context.span_id]
    assert [link.context.trace_id for link in process.links] == [push.context.trace_id]
    shared = {
        "messaging.system": "ferryman",
        "messaging.destination.name": "mail",
        "messaging.message.id": handle.id,
        "messaging.message.conversation_id": "c-1",
        "ferryman.task": "send",
    }
    assert facts(push) == {
        **shared,
        "messaging.operation.name": "push",
        "messaging.operation.type": "send",
    }
    assert facts(process) == {
        **shared,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "ferryman.attempt": 1,
        "ferryman.verdict": "ack",
    }


def test_each_retry_is_a_span_of_its_own_with_its_error(
    ferry: Ferry, exporter: InMemorySpanExporter
) -> None:
    @ferry.task(queue="mail", retry=Retry(2, base=0))
    def send() -> None:
        raise ValueError("no such address")

    send.push()
    ferry.run_batch(10)
    found = spans(exporter, "process mail")
    assert [facts(span)["ferryman.attempt"] for span in found] == [1, 2]
    assert len({span.context.trace_id for span in found}) == 2
    assert len({link.context.span_id for span in found for link in span.links}) == 1
    for span in found:
        [event] = span.events
        assert (span.status.status_code, facts(span)["error.type"]) == (
            StatusCode.ERROR,
            "ValueError",
        )
        assert event.name == "exception"
        told = dict(event.attributes or {})
        assert told["exception.message"] == "ValueError: no such address"
        assert "in send" in str(told["exception.stacktrace"])


def test_spans_of_a_handler_and_what_it_pushes_are_inside_its_own(
    ferry: Ferry, exporter: InMemorySpanExporter
) -> None:
    seen: list[int] = []

    @ferry.task(queue="mail")
    def first() -> None:
        seen.append(get_current_span().get_span_context().span_id)
        second.push()

    @ferry.task(queue="next")
    async def second() -> None:
        await asyncio.sleep(0)
        seen.append(get_current_span().get_span_context().span_id)

    first.push()
    ferry.run_batch(2)
    ferry.run_batch(2)
    [outer], [inner] = spans(exporter, "process mail"), spans(exporter, "process next")
    [push] = spans(exporter, "push next")
    assert seen == [outer.context.span_id, inner.context.span_id]
    assert push.parent is not None
    assert push.parent.span_id == outer.context.span_id
    assert [link.context.span_id for link in inner.links] == [push.context.span_id]


def test_an_async_push_is_inside_the_callers_span(
    ferry: Ferry, exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    @ferry.task(queue="mail")
    async def send() -> None: ...

    async def ask() -> int:
        with provider.get_tracer("test").start_as_current_span("request") as span:
            await send.apush()
            return span.get_span_context().span_id

    request = asyncio.run(ask())
    [push] = spans(exporter, "push mail")
    assert push.parent is not None
    assert push.parent.span_id == request


def test_a_batch_is_one_span_with_a_link_to_every_push(
    ferry: Ferry, exporter: InMemorySpanExporter
) -> None:
    @ferry.task(queue="mail", batch=5)
    def send(to: list[str]) -> None: ...

    pushes = [send.push_many(["a", "b"]), send.push_many(["c"])]
    ferry.worker({"mail": 1}, Settings(lease=2.0)).run_batch(10)
    assert sum(map(len, pushes)) == 3
    batches = spans(exporter, "push mail")
    assert facts(batches[0])["messaging.batch.message_count"] == 2
    found = spans(exporter, "process mail")
    linked = {link.context.span_id for span in found for link in span.links}
    assert linked == {span.context.span_id for span in batches}


def test_a_job_that_has_an_origin_or_no_room_for_one_is_pushed_as_it_is(
    ferry: Ferry, exporter: InMemorySpanExporter
) -> None:
    origin = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    full = {f"m{number}": "x" for number in range(16)}
    messages = [
        Message.of("mail", "send", meta={TRACE_META: origin}),
        Message.of("mail", "send", meta=full),
        Message.of("mail", "send", meta={TRACE_META: "forged"}),
    ]
    ids = [handle.id for handle in ferry.carry(messages)]
    stored = [ferry.backend.get(job_id) for job_id in ids]
    assert [dict(job.meta) for job in stored if job] == [dict(m.meta) for m in messages]

    @ferry.task(queue="mail")
    def send() -> None: ...

    ferry.run_batch(3)
    links = [[hex(n.context.span_id) for n in s.links] for s in spans(exporter, "process mail")]
    assert links == [["0xb7ad6b7169203331"], [], []]


def test_nothing_is_carried_where_nobody_traces(tmp_path: Path) -> None:
    with Ferry("memory://") as ferry:
        job = ferry.backend.get(ferry.push("mail").id)
        assert job is not None
        assert not job.meta


IN_A_CHILD = """
from opentelemetry import trace as api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from ferryman import Ferry, trace

provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(
    ConsoleSpanExporter(formatter=lambda span: f"{span.name} {len(span.links)}\\n")
))
ferry = Ferry()
trace(ferry, provider)

@ferry.task(queue="mail", executor="process")
def send() -> None: ...

if __name__ == "__main__":
    send.push()
    print(ferry.run_batch(1)["succeeded"])
"""


def test_a_handler_in_a_child_process_is_traced_there(tmp_path: Path) -> None:
    app = tmp_path / "traced_app.py"
    app.write_text(IN_A_CHILD)
    ran = subprocess.run(
        [sys.executable, str(app)],
        cwd=tmp_path,
        env={**os.environ, "FERRYMAN_URL": f"sqlite:///{tmp_path}/jobs.db"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["push mail 0", "process mail 1", "1"]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['opentelemetry'] = None; import ferryman; ferryman.trace"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'ferryman[otel]'" in ran.stderr
