"""Which text of a CSV a spreadsheet would run as a formula, and how it is neutralised: in Python and in SQL (pure)."""

from __future__ import annotations

import re
from typing import Any

# A spreadsheet may run a cell that begins with =, +, - or @, even behind spaces or quotes; in East Asia also if the
# sign is full-width. Where semicolons separate cells, as in much of Europe, a cell may begin within another's text.
RUNS_AT_START = re.compile(r"""^(?=[\s"]*[=+\-@＝＋－＠]|[\t\r\n])""")
RUNS_WITHIN = re.compile(r"""([;,\t\r\n])(?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])""")

# Text that is written unchanged: a text that begins harmlessly and has no separator. Most text matches, and this check
# is cheaper than the expressions below.
PLAIN = r"^[A-Za-z0-9_.:/(][^;,\t\r\n]*$"
SIGNS = "[=+\\-@＝＋－＠]"
# White space as Python defines it, without tabs and line breaks. PostgreSQL's own definition depends on a collation.
INNER_SPACE = r"\v\f\u001c-\u001f \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
SQL_RUNS_AT_START = rf"""^(?=[{INNER_SPACE}\t\r\n"]*{SIGNS}|[\t\r\n])"""
SQL_RUNS_WITHIN = rf"""([;,\t\r\n])(?=[{INNER_SPACE}"]*{SIGNS})"""


def neutralize(text: str) -> str:
    """Put an apostrophe before every text that a spreadsheet would run."""
    return RUNS_AT_START.sub("'", RUNS_WITHIN.sub(r"\1'", text))


def neutralize_strings(value: Any) -> Any:
    """Neutralise every name and string of a JSON value, so that it stays JSON."""
    match value:
        case str():
            return neutralize(value)
        case dict():
            return {neutralize(name): neutralize_strings(inner) for name, inner in value.items()}
        case list():
            return [neutralize_strings(inner) for inner in value]
    return value


def neutralize_sql(column: str) -> str:
    """Return SQL that neutralises a text column as `neutralize` does."""
    within = rf"regexp_replace({column}, '{SQL_RUNS_WITHIN}', '\1''', 'g')"
    return (
        f"CASE WHEN {column} ~ '{PLAIN}' THEN {column} ELSE regexp_replace({within}, '{SQL_RUNS_AT_START}', '''') END"
    )
