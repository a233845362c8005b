"""What changes, as it changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header
from fastapi.responses import StreamingResponse

from ferryman.web.guard import Here
from ferryman.web.routes.names import guarded_router

router = guarded_router("events")

_EVENTS = {"type": "string", "description": "Events `change`; the data of each is a `Change`."}


@router.get(
    "/v1/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": _EVENTS}}}},
)
async def events(
    here: Here, last_event_id: Annotated[str | None, Header(max_length=100)] = None
) -> StreamingResponse:
    """Server-sent events `change`: which queues have changed, and the store as it is now.

    `{"at", "queues", "overview", "outage"}`, at most one a second; a comment every 15 s.
    With `Last-Event-ID`, all that changed since then is in the first event. It ends with the
    credential that it was opened with.
    """
    stream = here.site.feed.stream(last_event_id, here.visitor)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)
