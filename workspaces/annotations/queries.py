"""Read annotations. An environment shows its own annotations and those that were made for all environments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from wire.list_position import ListPosition
from wire.time.period import Period
from workspaces.annotations.phase_comparison import MAX_PHASES, Phase, split_at_annotations
from workspaces.models import Annotation, Environment

SHORTLY = timedelta(hours=1)


def list_annotations(environment: Environment) -> QuerySet[Annotation]:
    """Return the annotations of an environment, the latest first."""
    own = Q(environment=environment) | Q(environment=None)
    rows = Annotation.objects.filter(own, workspace_id=environment.workspace_id)
    return rows.select_related("environment").order_by("-at", "-id")


def list_annotations_of_period(environment: Environment, period: Period) -> QuerySet[Annotation]:
    return list_annotations(environment).filter(at__gte=period.start, at__lt=period.end)


def list_phases(environment: Environment, period: Period, first_data: datetime | None) -> Sequence[Phase]:
    """Return the phases of a period between its latest annotations, in order of time; none without annotations.

    first_data: when the environment's data begin. The first phase begins with their hour, day or month, as charts do.
    """
    start = period.begin_with_data(first_data).start
    if start >= period.end:
        return ()
    latest = list_annotations_of_period(environment, period).values_list("at", "text")[: MAX_PHASES - 1]
    return split_at_annotations(start, period.end, reversed(latest)) if latest else ()


def find_annotation_before(environment: Environment, moment: datetime) -> Annotation | None:
    """Return the last annotation of the hour before a moment."""
    return list_annotations(environment).filter(at__gt=moment - SHORTLY, at__lte=moment).first()


def list_after(environment: Environment, position: ListPosition[UUID] | None) -> QuerySet[Annotation]:
    """Return the annotations that follow a position in the list; all of them for None."""
    rows = list_annotations(environment)
    if position is None:
        return rows
    return rows.filter(Q(at__lt=position.moment) | Q(at=position.moment, id__lt=position.row_id))
