"""What the tests of the overview share: its address, its text, its tables, and data for it."""

import json
from datetime import timedelta

from django.utils import timezone

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.catalog.reports import deliver, observation

PAGE = "/w/lumen-books/production/overview"
CONFIRMATION_REQUEST = {
    "sub": "user-1",
    "operation": "POST /refunds",
    "args": {"orderId": 1},
    "summary": "Refund order 1",
}


def report_outcomes(api, *ids):
    outcomes = [{"conversationId": id_, "outcomeKey": "purchase"} for id_ in ids]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200


def break_orders(api, created):
    """Change the type of one property."""
    deliver(api, created, observation(response={"total": 1}))
    deliver(api, created, observation(response={"total": "1"}))


def read_export(client, table):
    return json.loads(client.get(f"{PAGE}.json").getvalue())["tables"][table]


def add_data_of_last_year(workspace, api):
    production = workspace.workspace.environments.get(name="production")
    a_year_ago = timezone.now() - timedelta(days=365)
    record_verifications(production, [Verification("accepted", a_year_ago)])
    conversations = [{"conversationId": "conv_last_year", "startedAt": int(a_year_ago.timestamp())}]
    assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200
