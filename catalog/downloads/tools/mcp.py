"""The catalog as the result of MCP's `tools/list` (pure), valid in its revisions 2025-06-18 and 2026-07-28."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affidavit.operations import Identity
from catalog.downloads.absent_properties import identify_outline
from catalog.downloads.operation_names import name_outlines
from catalog.downloads.schemas.json_schema import build_schema
from catalog.downloads.tools.default_hints import derive_hints
from catalog.downloads.tools.tool_definitions import build_tool
from catalog.evidence.outlines import Descriptor, Outline, list_contents

EMPTY_OBJECT_DESCRIPTOR = {"type": "unknown", "reason": "empty", "of": "object"}
# Members that revision 2026-07-28 requires besides the tools. They say that the list is complete, and that a copy
# expires at once.
RESULT = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def build_mcp_document(outlines: Sequence[Outline], rules: Mapping[Identity, Mapping[str, bool]]) -> dict[str, Any]:
    """Return the document of `mcp.json`.

    rules: by operation, the values of hints that manual overrides set.
    """
    names = name_outlines(outlines)
    tools = [
        build_mcp_tool(name, outline, rules.get(identify_outline(outline), {}))
        for name, outline in zip(names, outlines, strict=True)
    ]
    return {"tools": tools, **RESULT}


def build_mcp_tool(name: str, outline: Outline, rules: Mapping[str, bool]) -> dict[str, Any]:
    """Return one tool. `affidavit/gate` says whether a call needs a confirmation (contract §3)."""
    tool = build_tool(name, outline)
    output_schema = build_output_schema(outline)
    return {
        "name": name,
        "title": tool["operation"],
        "description": tool["description"],
        "inputSchema": tool["inputSchema"],
        **({"outputSchema": output_schema} if output_schema else {}),
        "annotations": {**derive_hints(outline["method"]), **rules},
        "_meta": {"affidavit/operation": tool["operation"], "affidavit/gate": tool["requiresConfirmation"]},
    }


def build_output_schema(outline: Outline) -> dict[str, Any] | None:
    """Return a schema that accepts every observed 2xx body; None if the tool can have no output schema.

    It can have none if no 2xx status was observed, or if a 2xx response had no body or one that is not a JSON object.

    MCP has no structured result for a tool that may answer nothing or CSV. Before revision 2026-07-28, structured
    results are always objects.
    """
    successes = [status for status in outline["responses"] if status.startswith("2")]
    bodies = [outline["responses"][status] for status in successes]
    if not bodies or not all(map(is_always_object, bodies)):
        return None
    if any(shape is None for status in successes for shape in list_contents(outline, status).values()):
        return None
    schemas: list[dict[str, Any]] = []
    for body in bodies:
        if (schema := {"type": "object", **build_schema(body)}) not in schemas:
            schemas.append(schema)
    return schemas[0] if len(schemas) == 1 else {"type": "object", "anyOf": schemas}


def is_always_object(descriptor: Descriptor) -> bool:
    return descriptor == EMPTY_OBJECT_DESCRIPTOR or (descriptor["type"] == "object" and not descriptor.get("nullable"))
