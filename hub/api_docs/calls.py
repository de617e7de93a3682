"""The calls of the API of the hub as the page shows them, from its OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hub.api_docs.document import render_document
from hub.api_docs.in_python import IN_PYTHON

Json = Mapping[str, Any]
PARAMETER = re.compile(r"\{(\w+)\}")
MAX_DEPTH = 3  # of the fields of a body
# The calls of each part of the page, by the segment after `/api` in their path, in the order of a first integration
PARTS: Mapping[str, Sequence[str]] = {
    "Outcomes": ("conversations", "conversation-outcomes"),
    "Catalog": ("witness-reports", "witness-rules", "catalog"),
    "Intents": ("intents", "confirmations", "verification-reports"),
    "Annotations": ("annotations",),
}


@dataclass(frozen=True)
class Field:
    """A member of a body, or a parameter of an address or a header."""

    name: str
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class ApiCall:
    """One call of the API.

    example_path: the path with the ids of the examples, for calls that can be copied.
    in_python: how the package `affidavit` does the same, or "".
    body and answer: examples as JSON text, the body "" for GET.
    errors: the error codes of the call by status.
    """

    id: str
    method: str
    path: str
    example_path: str
    summary: str
    description: str
    in_python: str
    scope: str
    fields: Sequence[Field]
    body: str
    status: str
    answer: str
    errors: Sequence[tuple[str, str]]


@cache
def list_calls() -> Mapping[str, Sequence[ApiCall]]:
    """Return all calls by the part of the page that they belong to."""
    document = json.loads(render_document())
    calls = [
        build_call(document, path, method, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    return {
        part: [call for segment in segments for call in calls if call.path.split("/")[2] == segment]
        for part, segments in PARTS.items()
    }


def build_call(document: Json, path: str, method: str, operation: Json) -> ApiCall:
    status, success = next(item for item in operation["responses"].items() if item[0].startswith("2"))
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    parameters = [
        Field(item["name"], _name_type(item["schema"]), item.get("required", False), item.get("description", ""))
        for item in operation.get("parameters", [])
        if "name" in item
    ]
    return ApiCall(
        id=f"{method}-{path.removeprefix('/api/').replace('/', '-').translate({123: None, 125: None})}",
        method=method.upper(),
        path=path,
        example_path=_fill_in_ids(path, success["content"]["application/json"]["examples"]["example"]["value"]),
        summary=operation["summary"],
        description=operation["description"],
        in_python=IN_PYTHON.get(f"{method.upper()} {path}", ""),
        scope=operation["x-scope"],
        fields=[*list_fields(document, content.get("schema", {})), *parameters],
        body=_write_example(content) if content else "",
        status=status,
        answer=_write_example(success["content"]["application/json"]),
        errors=[
            (code, answer["description"])
            for code, answer in operation["responses"].items()
            if not code.startswith(("2", "3"))
        ],
    )


def list_fields(document: Json, schema: Json, prefix: str = "", depth: int = 1) -> Iterator[Field]:
    """Yield the members of a body, each followed by the members in it: `outcomes`, `outcomes[].outcomeKey`."""
    object_schema = _resolve(document, schema)
    for name, member in object_schema.get("properties", {}).items():
        inner = _resolve(document, member)
        items = _resolve(document, inner.get("items", {}))
        description = member.get("description") or inner.get("description", "")
        is_required = name in object_schema.get("required", [])
        yield Field(f"{prefix}{name}", _name_type(inner), is_required, description)
        if depth < MAX_DEPTH:
            yield from list_fields(document, items or inner, f"{prefix}{name}{'[]' if items else ''}.", depth + 1)


def _resolve(document: Json, schema: Json) -> Json:
    """Return the schema. If it has a `$ref`, its own members are added to those of the schema that it refers to."""
    references = [schema, *schema.get("allOf", [])]
    name = next((item["$ref"].rsplit("/", 1)[-1] for item in references if "$ref" in item), "")
    return {**document["components"]["schemas"][name], **schema} if name else schema


def _name_type(schema: Json) -> str:
    if "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema["enum"])
    is_number = schema.get("type") in ("number", "integer")  # the format of a number is only its size in memory
    return str((not is_number and schema.get("format")) or schema.get("type") or "any JSON")


def _fill_in_ids(path: str, answer: Any) -> str:
    """Return a path with the ids of the answer in place of its parameters: `confirmationId` for `{confirmation_id}`."""
    for name in PARAMETER.findall(path):
        first_word, *later_words = name.split("_")
        path = path.replace(f"{{{name}}}", answer["".join([first_word, *(word.title() for word in later_words)])])
    return path


def _write_example(content: Json) -> str:
    return json.dumps(content["examples"]["example"]["value"], ensure_ascii=False, indent=2)
