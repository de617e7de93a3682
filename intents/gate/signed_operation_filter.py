"""Find signed operations by the template or the exact path that a person typed.

Intents and confirmations have concrete paths, perhaps with a query. Verifications have templates instead (see
`intents.reports.operation_template`).
"""

from __future__ import annotations

import re

from django.db.models import Q

PARAMETER = re.compile(r"(\{[^{}/]*\})")
SYNTAX = re.compile(r"([^\w\s])", re.ASCII)  # what PostgreSQL may read as syntax; a backslash makes it a literal


def match_signed_operation(text: str) -> Q:
    """Return the condition on the column `operation` of rows that were signed for an operation.

    text: the operation, or only its path, which begins with a slash. A {name} stands for any one segment. Rows
        match with and without a query.
    """
    start = PARAMETER.split(text)[0]
    # Looking for the text before the first {name} as well is ten times as quick as the expression alone.
    if text.startswith("/"):
        condition, method = Q(operation__contains=f" {start}"), "[^ ]+ "
    else:
        condition, method = Q(operation__startswith=start), ""
    return condition & Q(operation__regex=rf"^{method}{_build_pattern(text)}(\?.*)?$")


def _build_pattern(text: str) -> str:
    """Return PostgreSQL's regular expression of the text; a {name} matches one segment."""
    parts = PARAMETER.split(text)
    return "".join("[^/?]+" if number % 2 else SYNTAX.sub(r"\\\1", part) for number, part in enumerate(parts))
