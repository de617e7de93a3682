"""The filters of tool calls, read from a page's address (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wire.address_members import read_text

ASKED, NOT_ASKED = "asked", "not-asked"
CHOICES = (ASKED, NOT_ASKED)
SEVERAL, REJECTED = "several", "rejected"
INTENTS_CHOICES = (SEVERAL, REJECTED)


@dataclass(frozen=True)
class CallFilters:
    """The filters of tool calls; an empty string filters nothing.

    method: the method in upper case.
    path: the path or the whole operation; each {name} in it stands for any one segment.
    user: the exact `sub`.
    confirmation, step_up: whether the call asks for it, one of CHOICES.
    intents: which calls are listed, one of INTENTS_CHOICES: those with several intents in the period, or those with a
        rejection in it.
    """

    method: str = ""
    path: str = ""
    user: str = ""
    confirmation: str = ""
    step_up: str = ""
    intents: str = ""

    def __bool__(self) -> bool:
        return bool(self.method or self.path or self.user or self.confirmation or self.step_up or self.intents)

    @property
    def searches(self) -> bool:
        """Return whether a page has to search for matching rows: only the user, or step-up alone, has an index."""
        is_step_up_searched = self.step_up == NOT_ASKED or (self.step_up and self.user)
        return bool(self.method or self.path or self.confirmation or self.intents or is_step_up_searched)


def parse_call_filters(query: Mapping[str, str]) -> CallFilters:
    """Read the filters from the address; a value that is none of the choices filters nothing."""
    confirmation, step_up = query.get("confirmation", ""), query.get("stepup", "")
    intents = query.get("intents", "")
    return CallFilters(
        read_text(query, "method").strip().upper(),
        read_text(query, "path").strip(),
        read_text(query, "user"),
        confirmation if confirmation in CHOICES else "",
        step_up if step_up in CHOICES else "",
        intents if intents in INTENTS_CHOICES else "",
    )
