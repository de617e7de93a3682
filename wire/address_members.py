"""The members of a page's address: the texts that it filters by, opened sections, and the result of a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import QueryDict

# The members that choose the period of a page and its time zone
PERIOD_MEMBERS = ("range", "from", "to", "tz")
# The members that name the environment with which a page is compared
COMPARISON_MEMBERS = ("compare", "against")
# Members that view_state.js writes into the address of a page. It also adds them to links.
VIEW_MEMBERS = ("open", "closed", "hide")
# The result of a form: only the page that the form redirects to shows it.
RESULT_MEMBERS = ("done", "fault", "move", "refused", "saved", "too-late")
# The questions that a page asks before a form is sent, such as `?revoke=5`. The form answers them.
QUESTION_MEMBERS = ("activate", "archive", "change", "delete", "delete_target", "remove", "revoke", "rotate")
MAX_DIGITS = 18  # more digits than the id of any row has


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return one member of an address as text that PostgreSQL takes, empty if it is missing."""
    return strip_nul(query.get(name, ""))


def read_texts(query: QueryDict, name: str) -> list[str]:
    """Return the values of a repeated member in their order, each once, without empty ones."""
    return list(dict.fromkeys(text for text in map(strip_nul, query.getlist(name)) if text))


def read_number(query: Mapping[str, str], name: str) -> int | None:
    """Return one member of an address as the id of a row; None unless it is a number of at most 18 digits."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None


def parse_uuid(text: str) -> UUID | None:
    """Return a text as a UUID, however it is spelt; None if it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def strip_nul(text: str) -> str:
    """Remove NUL characters: no stored text holds one, and PostgreSQL refuses them."""
    return text.replace("\0", "")


def change_query(members: QueryDict, changes: Mapping[str, Any]) -> QueryDict:
    """Return a copy of the members with changes; None and "" remove a member, a list gives it several values."""
    query = QueryDict(mutable=True)
    for name, values in members.lists():
        if name not in changes:
            query.setlist(name, list(values))
    for name, value in changes.items():
        if isinstance(value, list):
            query.setlist(name, value)
        elif value not in (None, ""):
            query[name] = str(value)
    return query
