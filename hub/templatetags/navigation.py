"""The sections of the side bar, in their order, with the key that leads there after `g`."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.template import Context

register = template.Library()


@dataclass(frozen=True)
class Section:
    """`page` is its first page's name in page_paths; `within` are the names of the pages beneath it."""

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
def sections() -> tuple[Section, ...]:
    return SECTIONS


@register.simple_tag(takes_context=True)
def current(context: Context, section: Section) -> str:
    """What `aria-current` of its link says: "page", "true" on a page beneath it, else ""."""
    page = context.get("page", "")
    if page == section.page:
        return "page"
    return "true" if page in section.within else ""
