"""The description of the API (OpenAPI 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import models_json_schema

from ferryman.web.models.problem import Problem
from ferryman.web.models.store import Change
from ferryman.web.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from pydantic import BaseModel

Responses = dict[int | str, dict[str, Any]]

SCHEMAS: Final = "#/components/schemas/"


def sends(model: type[BaseModel], status: int = 200) -> Responses:
    """What a route answers, for the description alone: no answer is checked on its way out."""
    return {status: {"model": model}}


def refuses(description: str) -> dict[str, Any]:
    """A problem document, in the description of a route."""
    content = {MEDIA_TYPE: {"schema": {"$ref": SCHEMAS + Problem.__name__}}}
    return {"description": description, "content": content}


def described(app: FastAPI) -> Mapping[str, Any]:
    """The whole description, with the documents that no route sends as its own answer."""
    document = app.openapi()
    _, found = models_json_schema(
        [(Problem, "serialization"), (Change, "serialization")], ref_template=SCHEMAS + "{model}"
    )
    # A copy: the framework keeps its own, and several threads may be asking.
    return {
        **document,
        "components": {"schemas": document["components"]["schemas"] | found["$defs"]},
    }
