"""The lines that bring the first data to an empty page (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from workspaces.models import Environment

CLAIM = '{"conversationId": "conv_81", "outcomeKey": "purchase"}'


def first_report(environment: Environment) -> Mapping[str, str]:
    """A body and the SDK's lines; production is where reports go that name no environment."""
    default = environment.name == "production"
    named = "" if default else f'"environment": "{environment.name}", '
    argument = "" if default else f'environment="{environment.name}", '
    return {
        "first_body": f'{{{named}"outcomes": [{CLAIM}]}}',
        "first_lines": "from affidavit import report_outcomes\n\n"
        f"report_outcomes(API_KEY, [{CLAIM}], {argument}base_url=BASE_URL)",
    }
