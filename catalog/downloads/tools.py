"""The catalog as tool definitions for assistants (pure): one tool for each operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affidavit.operations import PARAMETER, READS
from catalog.downloads.json_schema import schema_of
from catalog.downloads.operation_names import operation_names
from catalog.evidence.outlines import Descriptor, Outline, has_body

NAMED_AT_MOST = 12  # properties of an answer that a description names


def document(environment: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    names = operation_names([(outline["method"], outline["path"]) for outline in outlines])
    return {"environment": environment, "tools": [tool(*pair) for pair in zip(names, outlines, strict=True)]}


def tool(name: str, outline: Outline) -> dict[str, Any]:
    """`requiresConfirmation`: a call is minted only against a confirmation (contract 3)."""
    return {
        "name": name,
        "description": description(outline),
        "inputSchema": input_schema(outline),
        "operation": f"{outline['method']} {outline['path']}",
        "requiresConfirmation": outline["method"] not in READS,
    }


def input_schema(outline: Outline) -> dict[str, Any]:
    """`path`, `query` and `body` each by itself, so that no name of one hides another's."""
    inputs: dict[str, Any] = {}
    if outline["parameters"]:
        inputs["path"] = path_schema(outline)
    if outline["query"] is not None:
        inputs["query"] = schema_of(outline["query"])
    if outline["request"] is not None:
        inputs["body"] = schema_of(outline["request"])
    required = {"required": ["path"]} if "path" in inputs else {}
    return {"type": "object", "properties": inputs, **required, "additionalProperties": False}


def path_schema(outline: Outline) -> dict[str, Any]:
    """All of them are required: without one there is no path."""
    parameters = {name: schema_of(told) for name, told in outline["parameters"].items()}
    names = PARAMETER.findall(outline["path"])
    return {"type": "object", "properties": parameters, "required": names, "additionalProperties": False}


def description(outline: Outline) -> str:
    """`GET /orders/{orderId}. Answers 200 with an object (id, total), 404 with an object (error).`"""
    answers = (
        f"{status} with {words(answer)}" if has_body(answer) else f"{status} without a body"
        for status, answer in outline["responses"].items()
    )
    return f"{outline['method']} {outline['path']}. Answers {', '.join(answers)}."


def words(answer: Descriptor) -> str:
    kind = answer["type"]
    if kind == "array":
        return f"a list of {words(answer['items'])}"
    names = list(answer.get("properties", {}))
    if kind != "object" or not names:
        return "a body of unknown type" if kind == "unknown" else f"type {kind}"
    more = ", …" if len(names) > NAMED_AT_MOST else ""
    return f"an object ({', '.join(names[:NAMED_AT_MOST])}{more})"
