"""Pages of intents that say if no call is accepted any more. They are here because they use `hub.settings_pages`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from hub.calls_not_accepted.queries import read_calls_not_accepted
from hub.settings_pages.rotation_results import read_unknown_secret
from intents.rejections import views as rejections
from intents.tool_calls import call_views
from intents.tool_calls import views as tool_calls
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page


def show_rejections(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show what was rejected and why. If no call is accepted any more, say that first."""
    return _add_facts(rejections.show_rejections(request, environment, period), _read_causes(environment, period))


def show_tool_calls(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the calls for which the hub minted intents. If none is accepted any more, say that first."""
    return _add_facts(tool_calls.show_tool_calls(request, environment, period), _read_causes(environment, period))


def show_tool_call(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one tool call, and whether the secret that signed its intents seems unknown to the backend."""

    def read_facts() -> Mapping[str, Any]:
        return {"unknown_secret": read_unknown_secret(environment, now=timezone.now())}

    return _add_facts(call_views.show_tool_call(request, environment, period), read_facts)


def _read_causes(environment: Environment, period: Period) -> Callable[[], Mapping[str, Any]]:
    """Return a function that reads what `hub/_partials/calls_not_accepted.html` shows."""

    def read_facts() -> Mapping[str, Any]:
        not_accepted = read_calls_not_accepted(environment, period, now=timezone.now())
        return {
            "outage": not_accepted.outage,
            "unknown_secret": not_accepted.unknown_secret,
            "first_secret": not_accepted.first_secret,
        }

    return read_facts


def _add_facts(page: Page, read_facts: Callable[[], Mapping[str, Any]]) -> Page:
    """Return the page with further facts in its context. The page's own facts do not depend on them."""
    return replace(page, context=lambda: {**page.context(), **read_facts()})
