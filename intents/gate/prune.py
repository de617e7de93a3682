"""Find minted intents and confirmations that a workspace no longer keeps; `hub.retention` deletes them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from intents.models import Confirmation, MintedIntent
from wire.postgresql.monthly_partitions import MonthlyLog
from workspaces.models import Workspace

MINTED_INTENTS = MonthlyLog("intents_mintedintent", time="issued_at", owner="environment_id")


def find_expired_intents(workspace: Workspace, before: datetime) -> QuerySet[MintedIntent]:
    return MintedIntent.objects.filter(environment__workspace=workspace, issued_at__lte=before)


def find_expired_confirmations(workspace: Workspace, before: datetime) -> QuerySet[Confirmation]:
    """Return the confirmations that were requested before this time, without those that were used later.

    A used confirmation still covers redeliveries for 24 hours; no retention is shorter than a day.
    """
    is_unused = Q(used_at=None) | Q(used_at__lte=before)
    return Confirmation.objects.filter(is_unused, environment__workspace=workspace, created_at__lte=before)
