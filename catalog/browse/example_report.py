"""The call on an empty page that sends the first report of shapes (pure)."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from workspaces.models import Environment

EXAMPLE_REPORT = """{%s"reportId": "%s", "observations": [
    {"method": "GET", "path": "/orders/{orderId}", "status": 200, "count": 1,
     "parameters": {"orderId": {"type": "integer"}},
     "response": {"type": "object",
      "properties": {"id": {"type": "integer"}, "paid": {"type": "boolean"}}}}]}"""


def write_example_report(environment: Environment) -> str:
    """Return the body of a report that adds one operation to this environment; its reportId is always the same."""
    report_id = uuid5(NAMESPACE_URL, f"{environment.workspace_id}/{environment.name}/operation")
    target = "" if environment.name == "production" else f'"environment": "{environment.name}", '
    return EXAMPLE_REPORT % (target, report_id)
