"""Keep folds and manual overrides of one environment from each other."""

from __future__ import annotations

from catalog.catalog_revision import mark_changed
from catalog.models import Operation
from wire.postgresql.named_lock import hold_named_lock
from workspaces.models import Environment


def lock_environment(environment: Environment) -> None:
    """Keep folds and other overrides away from this environment's operations until the transaction ends."""
    environment.hold()
    lock_operations(environment)
    mark_changed(environment)


def lock_operations(environment: Environment) -> None:
    """Wait until no other fold or override works on this environment. Keep others away until the transaction ends."""
    hold_named_lock(f"catalog.fold {environment.pk}")


def lock_operation(operation: Operation) -> Operation:
    """Return the row as it is now, in a transaction in which no fold can change it."""
    lock_environment(operation.environment)
    return Operation.objects.select_related("environment").get(pk=operation.pk)
