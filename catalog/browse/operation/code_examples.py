"""An operation as code: a call of it for the shell, and its tool definition for assistants."""

from __future__ import annotations

import json
from collections.abc import Mapping

from catalog.browse.operation.curl_command import build_curl_command
from catalog.downloads.absent_properties import drop_marked, mark_outline
from catalog.downloads.queries import find_operation_name
from catalog.downloads.tools.tool_definitions import build_tool
from catalog.drift.presence.load_no_longer_seen import find_no_longer_seen_of
from catalog.evidence.unobserved_resets import list_unobserved_bodies
from catalog.models import Operation
from workspaces.models import Environment

MAX_TOOL_LENGTH = 20_000  # characters; a longer definition is in the download only


def build_code_context(environment: Environment, operation: Operation) -> Mapping[str, str]:
    """Return a call of the operation as a curl command, and its tool definition unless that is too long to read."""
    absent, unobserved = find_no_longer_seen_of(operation), list_unobserved_bodies(operation)
    outline = drop_marked(mark_outline(json.loads(operation.outline), absent, unobserved))
    tool = build_tool(find_operation_name(environment, outline), outline)
    definition = json.dumps(tool, indent=2, ensure_ascii=False)
    is_short = len(definition) <= MAX_TOOL_LENGTH
    return {"curl": build_curl_command(outline), "tool": definition if is_short else ""}
