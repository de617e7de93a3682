"""Change the retention of a workspace: for how many days each kind of data is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.db import transaction

from hub.retention.data_kinds import KINDS
from workspaces.audit.record import record_audit
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import RetentionPolicy, Workspace

KIND_NAMES = tuple(kind.name for kind in KINDS)
MAX_DAYS = 36_500


class DaysForm(forms.Form):
    """The number of days for which each kind of data is kept; an empty field stands for the default."""

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        for name in KIND_NAMES:
            messages = {
                "invalid": "Enter whole days.",
                "min_value": "At least 1 day.",
                "max_value": f"At most {MAX_DAYS:,} days.",
            }
            self.fields[name] = forms.IntegerField(
                required=False, min_value=1, max_value=MAX_DAYS, error_messages=messages
            )

    @property
    def summary(self) -> str:
        """Return the valid numbers as text. A reader confirms exactly these; for other numbers, the page asks again."""
        return ",".join(str(self.cleaned_data[name] or "") for name in KIND_NAMES)


@transaction.atomic
def change_retention(
    workspace: Workspace, days: Mapping[str, int | None], *, opened: str = "", actor: str, now: datetime
) -> bool:
    """Set the days of each kind, and record the changed ones. Return whether any changed.

    opened: the fingerprint of the days that the form was opened with. Raises InvalidRequest if they have changed since.
    """
    workspace.lock()
    policy, _ = RetentionPolicy.objects.get_or_create(workspace=workspace)
    require_unchanged(opened, list_days(policy), name_in_words(days))
    changed_kinds = [kind for kind in KIND_NAMES if getattr(policy, kind) != days.get(kind)]
    if not changed_kinds:
        return False
    before = {kind: getattr(policy, kind) for kind in changed_kinds}
    after = {kind: days.get(kind) for kind in changed_kinds}
    RetentionPolicy.objects.filter(pk=policy.pk).update(**after)
    record_audit(workspace.pk, "retention changed", {"before": before, "after": after}, actor=actor, now=now)
    return True


def list_days(policy: RetentionPolicy | None) -> dict[str, int | None]:
    """Return the days of each kind, by its name in words; None stands for the default."""
    return name_in_words({kind: getattr(policy, kind, None) for kind in KIND_NAMES})


def name_in_words(days: Mapping[str, int | None]) -> dict[str, int | None]:
    return {kind.replace("_", " "): days.get(kind) for kind in KIND_NAMES}
