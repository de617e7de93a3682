"""The sections of the side bar, and how much waits in each for a decision."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from django import template
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from intents.gate.queries import list_pending
from workspaces.access import has_role
from workspaces.models import Membership

register = template.Library()


@dataclass(frozen=True)
class Section:
    """A link of the side bar.

    page: the name of its page in page_paths; key: leads there after `g`; within: the names of the pages beneath it;
    role: what a member needs to see it.
    """

    page: str
    label: str
    key: str
    within: tuple[str, ...] = ()
    begins_group: bool = False
    role: str = Membership.VIEWER


SECTIONS = (
    Section("overview", "Overview", "h"),
    Section("catalog", "Catalog", "c", within=("operation", "difference", "rules")),
    Section("drift", "Drift", "d", within=("change",)),
    Section("outcomes", "Outcomes", "o", within=("outcome",), begins_group=True),
    Section("joins", "Broken joins", "j"),
    Section("rejections", "Rejections", "r", within=("rejection",), begins_group=True),
    Section("inspector", "Inspector", "i"),
    Section("confirmations", "Confirmations", "f"),
    Section("annotations", "Annotations", "n"),
    Section(
        "keys",
        "Settings",
        "s",
        within=("secrets", "environments", "members", "retention", "audit"),
        begins_group=True,
        role=Membership.ADMIN,
    ),
)
SETTINGS_TABS = (
    ("keys", "Keys"),
    ("secrets", "Signing secrets"),
    ("environments", "Environments"),
    ("members", "Members"),
    ("retention", "Retention"),
    ("audit", "Audit log"),
)


@register.simple_tag(takes_context=True)
def list_sections(context: Context) -> list[Section]:
    """Return the sections that the reader may open, in the order of the side bar."""
    is_admin = has_role(context["request"].user, context["environment"].workspace, Membership.ADMIN)
    return [section for section in SECTIONS if is_admin or section.role != Membership.ADMIN]


@register.simple_tag(takes_context=True)
def list_settings_tabs(context: Context) -> list[tuple[str, str, bool]]:
    """Return the address and the label of each settings page, and whether it is the one that is open."""
    environment = context["environment"]
    tabs = []
    for page, label in SETTINGS_TABS:
        with suppress(NoReverseMatch):  # pages that this version does not have yet
            address = reverse(page, args=[environment.workspace.slug, environment.name])
            tabs.append((address, label, page == context["page"]))
    return tabs


@register.simple_tag(takes_context=True)
def aria_current(context: Context, section: Section) -> str:
    """Return `aria-current` of the link to a section: "page" on its page, "true" on a page beneath it, else ""."""
    page = context.get("page", "")
    if page == section.page:
        return "page"
    return "true" if page in section.within else ""


@register.simple_tag(takes_context=True)
def count_pending(context: Context, section: Section) -> int:
    """Count what a person can decide now in a section of this environment."""
    if section.page != "confirmations":
        return 0
    return list_pending(context["environment"], now=timezone.now()).count()
