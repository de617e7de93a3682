"""Work through many rows in batches, so that no lock is held for long and few rows are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

Row = TypeVar("Row")


def split_into_batches(rows: Iterable[Row], size: int) -> Iterator[Sequence[Row]]:
    """Yield the rows in lists of `size`; the last one can be shorter."""
    remaining_rows = iter(rows)
    while batch := list(islice(remaining_rows, size)):
        yield batch


@transaction.atomic
def delete_batch(rows: QuerySet[Any], batch: int) -> int:
    """Delete at most `batch` of these rows that nobody else has locked; return how many."""
    locked_rows = rows.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:batch]
    rows.model._default_manager.filter(pk__in=(pks := list(locked_rows))).delete()
    return len(pks)
