"""The catalog as tool definitions for assistants (pure): one tool for each operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from affidavit.operations import PARAMETER, READS, REQUEST
from catalog.downloads.operation_names import name_outlines
from catalog.downloads.schemas.json_schema import build_fields_schema, build_part_schema, build_schema
from catalog.downloads.tools.tool_descriptions import describe_tool
from catalog.evidence.outlines import Descriptor, Outline, list_contents


def build_tools_document(environment: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    tools = [build_tool(name, outline) for name, outline in zip(name_outlines(outlines), outlines, strict=True)]
    return {"environment": environment, "tools": tools}


def build_openai_document(environment: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """Return the tools as OpenAI's Chat Completions API takes them.

    They are not `strict`, because most inputs are optional. Its Responses API makes functions without `strict` strict.
    """
    return _rewrite_tools(
        build_tools_document(environment, outlines),
        lambda tool: {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["inputSchema"],
                "strict": False,
            },
        },
    )


def build_anthropic_document(environment: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """Return the tools as Anthropic's Messages API takes them."""
    return _rewrite_tools(
        build_tools_document(environment, outlines),
        lambda tool: {
            "name": tool["name"],
            "description": tool["description"],
            "input_schema": tool["inputSchema"],
        },
    )


def _rewrite_tools(document: dict[str, Any], rewrite: Callable[[Mapping[str, Any]], Any]) -> dict[str, Any]:
    return {**document, "tools": [rewrite(tool) for tool in document["tools"]]}


def build_tool(name: str, outline: Outline) -> dict[str, Any]:
    """Return one definition. `requiresConfirmation` says whether a call needs a confirmation (contract §3)."""
    return {
        "name": name,
        "description": describe_tool(outline),
        "inputSchema": build_input_schema(outline),
        "operation": f"{outline['method']} {outline['path']}",
        "requiresConfirmation": outline["method"] not in READS,
    }


def build_input_schema(outline: Outline) -> dict[str, Any]:
    """Return separate members `path`, `query` and `body`, so that equal names in them do not collide."""
    inputs: dict[str, Any] = {}
    if outline["parameters"]:
        inputs["path"] = build_path_schema(outline)
    if outline["query"] is not None:
        inputs["query"] = build_fields_schema(outline["query"])
    if contents := list_contents(outline, REQUEST):
        inputs["body"] = build_body_schema(outline, contents)
    required_member = {"required": ["path"]} if "path" in inputs else {}
    return {"type": "object", "properties": inputs, **required_member, "additionalProperties": False}


def build_body_schema(outline: Outline, contents: Mapping[str, Descriptor | None]) -> dict[str, Any]:
    """Return the schema of the request's body: of JSON, of a form, or a string for other texts; `{}` for any other.

    contents: the bodies of the request by media type (list_contents).
    """
    types_without_shape = [media_type for media_type, shape in contents.items() if shape is None]
    if not all(media_type.startswith("text/") for media_type in types_without_shape):
        return {}
    shapes = [shape for shape in contents.values() if shape is not None][:1]
    schemas = [build_part_schema(outline, REQUEST, shape) for shape in shapes]
    schemas += [{"type": "string"}] if types_without_shape else []
    return schemas[0] if len(schemas) == 1 else {} if {} in schemas else {"anyOf": schemas}


def build_path_schema(outline: Outline) -> dict[str, Any]:
    """Return the schema of the path's parameters, all required: without one there is no path."""
    parameters = {name: build_schema(descriptor) for name, descriptor in outline["parameters"].items()}
    names = PARAMETER.findall(outline["path"])
    return {"type": "object", "properties": parameters, "required": names, "additionalProperties": False}
