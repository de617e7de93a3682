"""Read annotations. An environment shows its own annotations and those that were made for all environments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from wire.time.period import Period
from workspaces.annotations.phase_comparison import MAX_PHASES, Phase, split_at_annotations
from workspaces.models import Annotation, Environment

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORTLY = timedelta(hours=1)
MAX_DIGITS = 17  # digits of a time in microseconds; enough until the year 5000


class ListPosition(NamedTuple):
    """The last annotation of a part of the list, after which the next part begins."""

    at: datetime
    id: UUID


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


def list_after(environment: Environment, position: ListPosition | None) -> QuerySet[Annotation]:
    """Return the annotations that follow a position in the list; all of them for None."""
    rows = list_annotations(environment)
    if position is None:
        return rows
    return rows.filter(Q(at__lt=position.at) | Q(at=position.at, id__lt=position.id))


def write_cursor(annotation: Annotation) -> str:
    """Return the position of an annotation as text, `MICROSECONDS-ID`, which `parse_list_position` reads."""
    microseconds = (annotation.at - EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}-{annotation.pk.hex}"


def parse_list_position(cursor: str) -> ListPosition:
    """Read what `write_cursor` wrote; raises ValueError."""
    microseconds, _, id_text = cursor.partition("-")
    if not (microseconds.isascii() and microseconds.isdecimal()) or len(microseconds) > MAX_DIGITS:
        raise ValueError(cursor)
    return ListPosition(EPOCH + timedelta(microseconds=int(microseconds)), UUID(hex=id_text))
