"""Which drift changes count as new: those that nobody has acknowledged, and that no mute in force covers.

An alert asks whether a mute was in force when the change was detected, too.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from catalog.models import Drift, DriftMute
from workspaces.models import Environment


def leave_out_decided(environment: Environment, drift: QuerySet[Drift]) -> QuerySet[Drift]:
    """Return these changes without those that somebody has acknowledged or muted."""
    return leave_out_muted(environment, drift).filter(acknowledged_at=None)


def leave_out_muted(environment: Environment, drift: QuerySet[Drift]) -> QuerySet[Drift]:
    """Return these changes without those that are muted."""
    return drift.filter(~Exists(list_mutes(environment)))


def leave_out_once_muted(environment: Environment, drift: QuerySet[Drift]) -> QuerySet[Drift]:
    """Return these changes without those that were muted when they were detected, as far as that is still known."""
    mutes = _list_all_mutes(environment).filter(muted_at__lte=OuterRef("at"), until__gt=OuterRef("at"))
    return drift.filter(~Exists(mutes))


def list_mutes(environment: Environment) -> QuerySet[DriftMute]:
    """Return the mutes in force for the node and the kind of a change."""
    return _list_all_mutes(environment).filter(until__gt=Now())


def _list_all_mutes(environment: Environment) -> QuerySet[DriftMute]:
    """Return the mutes for the node and the kind of a change, also expired ones of the last day.

    An environment has few mutes, because people make them one by one.
    """
    same_change = {name: OuterRef(name) for name in ("operation", "part", "pointer", "kind")}
    return DriftMute.objects.filter(environment=environment, **same_change)
