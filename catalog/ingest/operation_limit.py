"""The limit on operations (MAX_OPERATIONS): observations beyond it are counted by operation, without shapes.

Operations that are in the catalog are still merged, so the limit never hides what was shown. New operations enter
in the order of their arrival while there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db.models import Count, Q

from affidavit.operations import Identity, OperationSum, has_begun
from catalog.models import ExcessOperation, Operation
from wire.batches import split_into_batches
from workspaces.models import Environment

ALL_OTHERS = Identity("", "")  # one row for the operations that are not counted one by one
BATCH_ROWS = 1000


class Room:
    """The numbers of operations for which an environment still has room: those that are shown, and those that are not.

    An operation is not shown if a template rule shows it under another, or if it only ever answered 404, 405 or 501.

    The operations are counted when the first new one asks for room. The caller holds the lock of the environment.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @cached_property
    def _free(self) -> dict[str, int]:
        is_shown = Q(begun=True, shown_under=None)
        counts = Operation.objects.filter(environment=self._environment).aggregate(
            shown=Count("pk", filter=is_shown), hidden=Count("pk", filter=~is_shown)
        )
        return {name: max(settings.MAX_OPERATIONS - count, 0) for name, count in counts.items()}

    def admit(
        self, visible: Identity, new_sums: Mapping[Identity, OperationSum], rows: Mapping[Identity, Operation]
    ) -> dict[Identity, OperationSum]:
        """Return those of the sums that still fit, and reduce the room.

        visible: the one operation under which the catalog shows all of them.
        rows: the existing operations, perhaps more than `new_sums` needs.
        """
        row = rows.get(visible)
        new = sorted(identity for identity in new_sums if identity != visible and identity not in rows)
        if row and row.begun and not new:
            return dict(new_sums)
        excluded_identities = set(new[self._free["hidden"] :])
        fitting = {identity: total for identity, total in new_sums.items() if identity not in excluded_identities}
        begins = not (row and row.begun) and any(map(has_begun, fitting.values()))
        hidden_count = len(new) - len(excluded_identities) + (row is None and not begins)
        if begins > self._free["shown"] or hidden_count > self._free["hidden"]:
            return {}
        if fitting:
            self._free["shown"] -= begins
            self._free["hidden"] -= hidden_count
        return fitting


def record_excess(environment: Environment, excess: Mapping[Identity, int], *, now: datetime) -> None:
    """Add these observations to the counts of the operations beyond the limit.

    At most MAX_OPERATIONS operations are counted one by one; the observations of all others go into one sum.
    """
    excess_rows = ExcessOperation.objects.filter(environment=environment).exclude(method="", key="")
    room = settings.MAX_OPERATIONS - excess_rows.count() if excess else 0
    remainder = 0
    for batch in split_into_batches(sorted(excess), BATCH_ROWS):
        rows = find_excess(environment, batch)
        new = [identity for identity in batch if identity not in rows]
        excluded_identities = set(new[max(room, 0) :])
        room -= len(new)
        remainder += sum(excess[identity] for identity in excluded_identities)
        _save_excess(
            _add_counts(
                rows, environment, {key: excess[key] for key in batch if key not in excluded_identities}, now=now
            )
        )
    if remainder:
        rows = find_excess(environment, [ALL_OTHERS])
        _save_excess(_add_counts(rows, environment, {ALL_OTHERS: remainder}, now=now))


def delete_excess(environment: Environment, identities: Collection[Identity]) -> None:
    """Delete the counts of operations that are in the catalog now."""
    if not ExcessOperation.objects.filter(environment=environment).exists():
        return
    for batch in split_into_batches(sorted(identities), BATCH_ROWS):
        ids = [row.pk for row in find_excess(environment, batch).values()]
        ExcessOperation.objects.filter(pk__in=ids).delete()


def find_excess(environment: Environment, identities: Collection[Identity]) -> dict[Identity, ExcessOperation]:
    rows = ExcessOperation.objects.filter(
        environment=environment,
        method__in={identity.method for identity in identities},
        key__in={identity.key for identity in identities},
    )
    by_identity = {Identity(row.method, row.key): row for row in rows}
    return {identity: by_identity[identity] for identity in identities if identity in by_identity}


def _add_counts(
    rows: Mapping[Identity, ExcessOperation], environment: Environment, counts: Mapping[Identity, int], *, now: datetime
) -> Iterator[ExcessOperation]:
    """Yield the rows of these operations with their counts added, new ones among them."""
    for (method, key), count in counts.items():
        row = rows.get(Identity(method, key)) or ExcessOperation(
            environment=environment, method=method, key=key, observations=0, first_reported_at=now
        )
        row.observations += count
        row.last_reported_at = now
        yield row


def _save_excess(rows: Iterable[ExcessOperation]) -> None:
    ExcessOperation.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["environment", "method", "key"],
        update_fields=["observations", "last_reported_at"],
    )
