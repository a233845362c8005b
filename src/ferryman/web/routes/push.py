"""Handing over jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import Header
from pydantic import AwareDatetime, BaseModel, ConfigDict, Discriminator, Field, Tag

from ferryman.message import MAX_ATTEMPTS, MAX_ID, MAX_NAME, MAX_SECONDS, Message
from ferryman.queue.answers import Pushed
from ferryman.service import presentation
from ferryman.web import models
from ferryman.web.answers import Json
from ferryman.web.guard import Here
from ferryman.web.idempotency import Seal
from ferryman.web.openapi import refuses
from ferryman.web.problems import Problem, problem_of
from ferryman.web.routes.names import guarded_router

router = guarded_router("jobs")

MOST: Final = 1_000
"""Jobs of one request."""

_Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]


class NewJob(BaseModel):
    """A job by its task's name. Durations are seconds; `at` is a moment and excludes `delay`.

    `id` makes the push repeatable; `key` and `unique` prevent a second job; see `ferryman.Options`.
    """

    model_config = ConfigDict(extra="forbid")
    task: str = Field(max_length=MAX_NAME)
    payload: Any = None
    queue: str | None = Field(default=None, max_length=MAX_NAME)
    priority: int | Literal["high", "normal", "low"] | None = None
    delay: _Seconds | None = None
    at: AwareDatetime | None = None
    expires: _Seconds | None = None
    key: str | None = Field(default=None, max_length=MAX_ID)
    unique: Literal["waiting", "unfinished", "replace"] | _Seconds | None = None
    id: str | None = Field(default=None, max_length=MAX_ID)
    max_attempts: int | None = Field(default=None, ge=1, le=MAX_ATTEMPTS)
    timeout: _Seconds | None = None
    correlation_id: str | None = Field(default=None, max_length=MAX_ID)
    meta: dict[str, str] | None = None
    tenant: str | None = Field(default=None, max_length=MAX_NAME)


class NewJobs(BaseModel):
    """Several jobs; each is accepted or refused by itself."""

    model_config = ConfigDict(extra="forbid")
    jobs: list[NewJob] = Field(min_length=1, max_length=MOST)


def _shape(body: Any) -> str:
    return (
        "many"
        if isinstance(body, NewJobs) or (isinstance(body, dict) and "jobs" in body)
        else "one"
    )


Wanted = Annotated[
    Annotated[NewJob, Tag("one")] | Annotated[NewJobs, Tag("many")], Discriminator(_shape)
]

Accepted = models.PushedJob | models.PushedJobs


@router.post(
    "/v1/jobs",
    status_code=201,
    responses={
        200: {"model": Accepted, "description": "All of them were there already."},
        201: {"model": Accepted},
        409: refuses("An id is taken by another body; the other jobs were accepted."),
        429: refuses("A queue is full or a quota spent; Retry-After says when to try again."),
    },
)
def push(
    here: Here,
    wanted: Wanted,
    idempotency_key: Annotated[str | None, Header(min_length=1, max_length=200)] = None,
) -> Json:
    """Hand over one job, or several as `{"jobs": [...]}`.

    With `Idempotency-Key` the ids of jobs without one are derived from it and from whose key it
    is: sent again with the same body nothing new is pushed (200); with another body it is refused
    (409). Where some of several jobs are refused the others are accepted, and the problem's `jobs`
    tells which.
    """
    jobs = [wanted] if isinstance(wanted, NewJob) else wanted.jobs
    messages = [_message(here, job) for job in jobs]
    seal = None if idempotency_key is None else _seal(here, wanted, idempotency_key)
    if seal is not None:
        messages = [
            seal.on(message, index) if job.id is None else message
            for index, (job, message) in enumerate(zip(jobs, messages, strict=True))
        ]
        problem = seal.refusal(here.site.backend, messages, [one.id for one in messages])
        if problem is not None:
            raise problem
    with here.pushing(len(messages)) as spending:
        pushed = here.control.push_many(messages)
        here.count = sum(one.status in ("created", "replaced") for one in pushed)
        spending.used = here.count
    here.target = pushed[0].id if len(pushed) == 1 else ""
    shown = [presentation.pushed(one) for one in pushed]
    problem = _refusal(here, messages, pushed, seal)
    if problem is not None:
        # Those that were accepted are a change, whatever the answer says.
        here.note("jobs.push")
        problem.more["jobs"] = shown
        raise problem
    status = 201 if here.count else 200
    if isinstance(wanted, NewJobs):
        return Json({"jobs": shown, "created": here.count}, status_code=status)
    location = f"{here.root}/v1/jobs/{quote(pushed[0].id, safe='')}"
    return Json(shown[0], status_code=status, headers={"Location": location})


def _message(here: Here, job: NewJob) -> Message:
    options = job.model_dump(exclude={"task", "payload"}, exclude_none=True)
    return here.control.message(job.task, job.payload, **options)


def _seal(here: Here, wanted: NewJob | NewJobs, idempotency_key: str) -> Seal:
    whose = here.visitor.key_id or here.visitor.name
    return Seal.of(whose, idempotency_key, wanted.model_dump(mode="json"))


def _refusal(
    here: Here, messages: Sequence[Message], pushed: Sequence[Pushed], seal: Seal | None
) -> Problem | None:
    if seal is not None:
        # Another request with this key may have come at the same time.
        existing = [one.id for one in pushed if one.status == "existing"]
        problem = seal.refusal(here.site.backend, messages, existing)
        if problem is not None:
            return problem
    refusal = here.control.refusal(messages, pushed)
    return None if refusal is None else problem_of(refusal)
