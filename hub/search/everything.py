"""Search each kind of thing by a separate query: names by any part, ids by prefix or exactly.

Each query reads one environment or workspace by an index that begins with it, and is bounded. The search text is never
stored.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import AnonymousUser, User

from hub.search.glossary import search_terms
from hub.search.ids import search_conversations, search_reports, search_tool_calls, search_users
from hub.search.keys_reasons_annotations import search_annotations, search_keys, search_reasons
from hub.search.operations_properties_outcome_keys import search_operations, search_outcome_keys, search_properties
from hub.search.pages import search_pages
from hub.search.results import ResultGroup
from workspaces.models import Environment


def search_everything(environment: Environment, text: str, user: User | AnonymousUser) -> list[ResultGroup]:
    """Return the results by kind, the most specific kind first: ids, then names, then pages."""
    searches: tuple[Callable[[Environment, str], ResultGroup], ...] = (
        search_conversations,
        search_tool_calls,
        search_users,
        search_reports,
        search_operations,
        search_properties,
        search_outcome_keys,
    )
    groups = [
        *(search(environment, text) for search in searches),
        search_reasons(text),
        search_keys(environment, text, user),
        search_annotations(environment, text),
        search_terms(text),
        search_pages(environment, text, user),
    ]
    return [group for group in groups if group.results]


def list_examples(environment: Environment) -> list[ResultGroup]:
    """Return the first operations and outcome keys, for a reader who has typed nothing yet."""
    groups = (search_operations(environment, ""), search_outcome_keys(environment, ""))
    return [group for group in groups if group.results]
