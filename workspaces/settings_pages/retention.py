"""What the page of retention changes of a workspace: the numbers of days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.db import transaction

from workspaces.audit.record import record_audit
from workspaces.models import RetentionPolicy, Workspace

KINDS = (
    "broken_joins", "rejections", "minted_intents", "confirmations", "inbox", "audit", "observed_days", "annotations",
    "alerts",
)  # fmt: skip
MAX_DAYS = 36_500


class DaysForm(forms.Form):
    """For how many days each kind is kept; empty keeps it."""

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        for name in KINDS:
            messages = {
                "invalid": "Enter whole days.",
                "min_value": "At least 1 day.",
                "max_value": "Leave it empty.",
            }
            self.fields[name] = forms.IntegerField(
                required=False, min_value=1, max_value=MAX_DAYS, error_messages=messages
            )


@transaction.atomic
def change_retention(workspace: Workspace, days: Mapping[str, int | None], *, actor: str, now: datetime) -> bool:
    """Set the numbers of days by kind, and record those that differ; return whether any does."""
    policy, _ = RetentionPolicy.objects.select_for_update().get_or_create(workspace=workspace)
    changed = [name for name in KINDS if getattr(policy, name) != days.get(name)]
    if not changed:
        return False
    before = {name: getattr(policy, name) for name in changed}
    after = {name: days.get(name) for name in changed}
    RetentionPolicy.objects.filter(pk=policy.pk).update(**after)
    record_audit(workspace.pk, "retention changed", {"before": before, "after": after}, actor=actor, now=now)
    return True
