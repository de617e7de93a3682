"""The sections of the side bar, and how much waits in each for a decision."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.template import Context
from django.utils import timezone

from intents.gate.queries import list_pending

register = template.Library()


@dataclass(frozen=True)
class Section:
    """A link of the side bar.

    page: the name of its page in page_paths; key: leads there after `g`; within: the names of the pages beneath it.
    """

    page: str
    label: str
    key: str
    within: tuple[str, ...] = ()
    begins_group: bool = False


SECTIONS = (
    Section("overview", "Overview", "h"),
    Section("catalog", "Catalog", "c", within=("operation", "difference", "rules")),
    Section("drift", "Drift", "d"),
    Section("outcomes", "Outcomes", "o", within=("outcome",), begins_group=True),
    Section("joins", "Broken joins", "j"),
    Section("rejections", "Rejections", "r", begins_group=True),
    Section("inspector", "Inspector", "i"),
    Section("confirmations", "Confirmations", "f"),
)


@register.simple_tag
def list_sections() -> tuple[Section, ...]:
    """Return the sections in the order of the side bar."""
    return SECTIONS


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
