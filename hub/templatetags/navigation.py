"""The sections of the side bar, and how much there is to do in each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import QuerySet
from django.template import Context
from django.urls import NoReverseMatch
from django.utils import timezone

from catalog.drift.queries import list_broken_fields, list_open_drift
from intents.gate.queries import list_pending
from outcomes.tallies.series import read_totals
from wire.time.period import DEFAULT_LENGTH, Period, parse_period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.templatetags.addresses import page_url

register = template.Library()
MAX_COUNTED = 999
DEFAULT_WORDS = f"in the last {DEFAULT_LENGTH.days} days"


@dataclass(frozen=True)
class Section:
    """A link of the side bar.

    page: the name of its page in page_paths.
    key: the key that opens it after `g`.
    within: the names of the pages beneath it.
    role: the role that a member needs to see it.
    """

    page: str
    label: str
    key: str
    within: tuple[str, ...] = ()
    begins_group: bool = False
    role: str = Membership.VIEWER


SECTIONS = (
    Section("overview", "Overview", "h"),
    Section("catalog", "Catalog", "c", within=("operation", "property", "difference", "rules")),
    Section("drift", "Drift", "d", within=("change",)),
    Section("outcomes", "Outcomes", "o", within=("outcome", "conversation"), begins_group=True),
    Section("joins", "Broken joins", "j"),
    Section("rejections", "Rejections", "r", within=("rejection", "toolcall"), begins_group=True),
    Section("inspector", "Inspector", "i"),
    Section("confirmations", "Confirmations", "f", within=("toolcalls",)),
    Section("annotations", "Annotations", "n"),
    Section(
        "keys",
        "Settings",
        "s",
        within=(
            *("refused-requests", "secrets", "environments", "members", "alerts", "deliveries", "retention", "audit"),
            "shared-links",
        ),
        begins_group=True,
        role=Membership.ADMIN,
    ),
    Section("api", "API docs", "p", begins_group=True),
    Section("glossary", "Glossary", "w"),
)
SETTINGS_TABS = (
    ("keys", "Keys"),
    ("secrets", "Signing secrets"),
    ("environments", "Environments"),
    ("members", "Members"),
    ("alerts", "Alerts"),
    ("shared-links", "Shared links"),
    ("retention", "Retention"),
    ("audit", "Audit log"),
)

BENEATH_TABS = {
    "deliveries": "alerts",
    "refused-requests": "keys",
}  # the tab under which a page without a tab of its own is shown


@register.simple_tag(takes_context=True)
def list_sections(context: Context) -> list[Section]:
    """Return the sections that the reader may open, in the order of the side bar."""
    is_admin = has_role(context["request"].user, context["environment"].workspace, Membership.ADMIN)
    return [section for section in SECTIONS if is_admin or section.role != Membership.ADMIN]


@register.simple_tag(takes_context=True)
def list_settings_tabs(context: Context) -> list[tuple[str, str, bool]]:
    """Return the address and the label of each settings page, and whether it is the one that is open."""
    open_page = BENEATH_TABS.get(context["page"], context["page"])
    tabs = []
    for page, label in SETTINGS_TABS:
        with suppress(NoReverseMatch):  # pages that this version does not have yet
            tabs.append((page_url(context, page), label, page == open_page))
    return tabs


@register.simple_tag(takes_context=True)
def aria_current(context: Context, section: Section) -> str:
    """Return `aria-current` of the link to a section: "page" on its page, "true" on a page beneath it, else "".

    A page that fits beneath several sections chooses one by the variable `section_page`.
    """
    if context.get("is_elsewhere"):
        return ""
    page, section_page = context.get("page", ""), context.get("section_page", "")
    if page == section.page:
        return "page"
    is_beneath = section.page == section_page if section_page else page in section.within
    return "true" if is_beneath else ""


@dataclass(frozen=True)
class SectionCount:
    """The number of things in a section that wait for a person.

    is_cut: whether counting stopped early.
    is_waiting: whether these things can expire.
    """

    count: int
    unit: str
    is_cut: bool = False
    is_waiting: bool = False


def count_broken_fields(environment: Environment, period: Period, when: str) -> SectionCount:
    fields = list_broken_fields(list_open_drift(environment, period))
    return _count_for_section(fields, f"fields broken and not acknowledged, {when}")


def count_broken_joins(environment: Environment, period: Period, when: str) -> SectionCount:
    return SectionCount(read_totals(environment, period).broken, f"unresolved {when}")


def count_pending(environment: Environment, period: Period, when: str) -> SectionCount:
    return _count_for_section(list_pending(environment, now=timezone.now()).values("pk"), "waiting", is_waiting=True)


def _count_for_section(rows: QuerySet[Any, Any], unit: str, *, is_waiting: bool = False) -> SectionCount:
    # Without an order, PostgreSQL stops reading at the limit.
    count = rows.order_by()[: MAX_COUNTED + 1].count()
    return SectionCount(min(count, MAX_COUNTED), unit, count > MAX_COUNTED, is_waiting)


COUNTS = {"drift": count_broken_fields, "joins": count_broken_joins, "confirmations": count_pending}


@register.simple_tag(takes_context=True)
def count_open(context: Context, section: Section) -> SectionCount | None:
    """Count what waits for a person in a section, as its page counts it; None if nothing does.

    On a page without a period, count in the default one, and name it.
    """
    count = COUNTS.get(section.page)
    if count is None:
        return None
    period, when = context["period"], "in this period"
    if not context["has_period"]:
        period, when = parse_period({"tz": period.zone.key}, now=timezone.now()), DEFAULT_WORDS
    open_items = count(context["environment"], period, when)
    return open_items if open_items and open_items.count else None
