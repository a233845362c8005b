"""Asks routes by their place in the description, and holds every answer against its schema."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from tests.web.client import Answer, Client, part

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMAS = "#/components/schemas/"


class Wire:
    """`seen` are the members of the description's documents that came with a value, as
    `Document.member`; `asked` are the routes whose answers were described."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.document = client.get("/openapi.json").json
        self._closed = closed(self.document)
        self.asked: set[str] = set()
        self.seen: set[str] = set()

    def get(self, path: str, query: Mapping[str, Any] | None = None, **names: str) -> Any:
        return self.ask("GET", path, names, query=query)

    def post(self, path: str, body: Any = None, *, status: int = 200, **names: str) -> Any:
        return self.ask("POST", path, names, body=body, status=status)

    def ask(
        self,
        method: str,
        path: str,
        names: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        status: int = 200,
        client: Client | None = None,
    ) -> Any:
        """The JSON of an answer that has this status and the shape that the description says."""
        parts = {name: part(value) for name, value in (names or {}).items()}
        asker = client or self._client
        answer = asker.send(method, path.format(**parts), query=dict(query or {}), body=body)
        assert answer.status == status, answer.text
        self.asked.add(f"{method} {path}")
        self.check(self._schema(method, path, answer), answer.json)
        return answer.json

    def check(self, schema: Mapping[str, Any], value: Any) -> None:
        """An error that says where a value differs from its schema."""
        Draft202012Validator({**self._closed, **schema}).validate(value)
        self._note(schema, value, "")

    @property
    def members(self) -> set[str]:
        """Every member of a document that some route sends, as `Document.member`."""
        found: set[str] = set()
        for path, methods in self.document["paths"].items():
            for method in methods:
                for response in self._responses(method, path).values():
                    for content in response.get("content", {}).values():
                        found |= self._below(content.get("schema", {}), "")
        return found | self._below({"$ref": SCHEMAS + "Change"}, "")

    def _responses(self, method: str, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.document["paths"][path][method.lower()]["responses"]
        return found

    def _schema(self, method: str, path: str, answer: Answer) -> dict[str, Any]:
        responses = self._responses(method, path)
        described = responses.get(str(answer.status), responses["default"])
        content = described["content"][answer.headers["content-type"]]
        schema: dict[str, Any] = content["schema"]
        assert schema, f"{method} {path} has no schema for {answer.status}"
        return schema

    def _note(self, schema: Mapping[str, Any], value: Any, name: str) -> None:
        schema, name = self._named(schema, name)
        for choice in schema.get("anyOf", ()):
            if Draft202012Validator({**self._closed, **choice}).is_valid(value):
                self._note(choice, value, name)
        for one in value if isinstance(value, list) else ():
            self._note(schema.get("items", {}), one, name)
        for member, inner in schema.get("properties", {}).items():
            if isinstance(value, dict) and value.get(member) is not None:
                self.seen.add(f"{name}.{member}")
                self._note(inner, value[member], f"{name}.{member}")

    def _below(self, schema: Mapping[str, Any], name: str) -> set[str]:
        schema, name = self._named(schema, name)
        found = {f"{name}.{member}" for member in schema.get("properties", {})}
        inner = [*schema.get("properties", {}).values(), schema.get("items", {})]
        for one in [*inner, *schema.get("anyOf", ())]:
            found |= self._below(one, name) if one else set()
        return found

    def _named(self, schema: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], str]:
        if "$ref" not in schema:
            return schema, name
        found = schema["$ref"].removeprefix(SCHEMAS)
        return self.document["components"]["schemas"][found], found


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """The description with documents that allow no member which it does not name."""
    found = copy.deepcopy({"components": document["components"]})
    for schema in found["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return found
