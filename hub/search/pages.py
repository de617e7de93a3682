"""Search for the hub's own pages, by their names and by words for their contents."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import AnonymousUser, User

from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_matches
from hub.templatetags.navigation import SECTIONS, SETTINGS_TABS
from workspaces.access import has_role
from workspaces.models import Environment, Membership

# What people call the contents of a page, besides the name of the page.
PAGE_WORDS = {
    "catalog": "operations, OpenAPI, JSON Schema, tool definitions, MCP",
    "drift": "breaking changes, acknowledge, mute",
    "outcomes": "conversations, funnel, conversion",
    "joins": "unknown conversations, moved, healed",
    "rejections": "verification, reasons, tool calls, versions",
    "inspector": "verify a header, decode an intent",
    "confirmations": "gate, approve, decline",
    "toolcalls": "minted intents, step-up, permitted calls, retried calls, audit by user",
    "difference": "compare environments, staging, production",
    "rules": "manual overrides, redaction, templates, maps",
    "keys": "API keys, scopes, revoke",
    "refused-requests": "errors, 400, 401, 403, 413, 429, wrong key, publishable key",
    "secrets": "signing secrets, rotate",
    "environments": "stages, archive, audience, version 1",
    "members": "people, roles, invite, admin",
    "alerts": "notify, Slack, chat, webhooks, e-mail, targets",
    "deliveries": "messages of alerts, dead letters, send again",
    "shared-links": "share a page, for somebody without an account",
    "retention": "delete a conversation, delete a user, days",
    "audit": "who did what",
    "annotations": "deploys, campaigns",
    "glossary": "help, terms, words, what a word means",
}
SETTINGS_PAGES = (*SETTINGS_TABS, ("refused-requests", "Refused requests"), ("deliveries", "Deliveries"))
OTHER_PAGES = (("difference", "Compare environments"), ("rules", "Rules"), ("toolcalls", "Tool calls"))


def search_pages(environment: Environment, text: str, user: User | AnonymousUser) -> ResultGroup:
    """Find pages by their names and by their contents: only those that the reader may open."""
    results = [
        SearchResult(page, mark_matches(label, text), detail=_find_word(page, text))
        for page, label in _list_pages(has_role(user, environment.workspace, Membership.ADMIN))
        if text.lower() in label.lower() or _find_word(page, text)
    ]
    return ResultGroup("Pages and settings", results[:MAX_RESULTS], len(results) > MAX_RESULTS)


def _list_pages(is_admin: bool) -> Iterator[tuple[str, str]]:
    yield from ((section.page, section.label) for section in SECTIONS if section.role != Membership.ADMIN)
    yield from OTHER_PAGES
    yield from ((page, f"Settings: {label}") for page, label in SETTINGS_PAGES if is_admin)


def _find_word(page: str, text: str) -> str:
    """Return the first of the PAGE_WORDS of a page that contains the text; "" if none does."""
    words = PAGE_WORDS.get(page, "").split(", ")
    return next((word for word in words if text.lower() in word.lower()), "")
