"""The code on an empty page that sends its first data (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from workspaces.models import Environment

CONVERSATION = '{"conversationId": "conv_81"}'
ITEM = '{"conversationId": "conv_81", "outcomeKey": "purchase"}'


def first_report_snippets(environment: Environment) -> Mapping[str, str]:
    """Return two bodies for curl and lines for Python; a report that names no environment goes to production.

    The conversation comes first: its outcome is then reported for a known conversation.
    """
    is_default = environment.name == "production"
    member = "" if is_default else f'"environment": "{environment.name}", '
    argument = "" if is_default else f'environment="{environment.name}", '
    return {
        "first_conversation": f'{{{member}"conversations": [{CONVERSATION}]}}',
        "first_body": f'{{{member}"outcomes": [{ITEM}]}}',
        "first_lines": "from affidavit import report_outcomes\n\n"
        f"report_outcomes(API_KEY, [{ITEM}], {argument}base_url=BASE_URL)",
    }
