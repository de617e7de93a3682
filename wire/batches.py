"""Delete many rows in small batches, so that no lock is held for long."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet


@transaction.atomic
def delete_batch(rows: QuerySet[Any], batch: int) -> int:
    """Delete at most `batch` of these rows that nobody else has locked; return how many."""
    locked_rows = rows.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:batch]
    rows.model._default_manager.filter(pk__in=(pks := list(locked_rows))).delete()
    return len(pks)
