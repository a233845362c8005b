"""An answer that is not what was asked for."""

from __future__ import annotations

from pydantic import BaseModel

from ferryman.web.models.push import PushedJob


class Flaw(BaseModel):
    """What is wrong with a request, and where in it."""

    place: str
    problem: str


class Problem(BaseModel):
    """RFC 9457. `code` is for programs, `detail` and `hint` are for people.

    `errors` are there where a request was malformed; `jobs` and `refused`, the ids of those that
    were not accepted, where jobs were pushed.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    errors: list[Flaw] | None = None
    jobs: list[PushedJob] | None = None
    refused: list[str] | None = None
