"""What the list of operations reads."""

from __future__ import annotations

from django.db.models import QuerySet

from catalog.browse.filters import OperationFilters
from catalog.models import Operation
from catalog.queries import BY_PATH, visible_operations
from wire.period import Period
from workspaces.models import Environment

ORDERS = {
    "path": BY_PATH,
    "observations": ("-observations", *BY_PATH),
    "properties": ("-properties", *BY_PATH),
    "first": ("-first_seen_at", *BY_PATH),
    "last": ("-last_seen_at", *BY_PATH),
}
LISTED_COLUMNS = (
    "method", "path", "observations", "statuses", "properties", "undecided", "first_seen_at", "last_seen_at",
    "unknowns", "drifted_at",
)  # fmt: skip


def list_operations(environment: Environment, period: Period, filters: OperationFilters) -> QuerySet[Operation]:
    """Return the operations that pass the filters, in their order, without evidence."""
    operations = visible_operations(environment)
    for word in filters.words:
        operations = operations.filter(search__icontains=word)
    if filters.method:
        operations = operations.filter(method=filters.method)
    if filters.statuses:
        operations = operations.filter(statuses__has_any_keys=filters.statuses)
    match filters.subset:
        case "unknown":
            operations = operations.filter(unknowns__gt=0)
        case "drifted":
            operations = operations.filter(drifted_at__gte=period.start)
        case "unseen":
            operations = operations.filter(last_seen_at__lt=period.start)
    return operations.order_by(*ORDERS[filters.sort]).only(*LISTED_COLUMNS)


def list_methods(environment: Environment) -> list[str]:
    return list(visible_operations(environment).order_by("method").values_list("method", flat=True).distinct())
