"""Counts that never exceed the largest number that a bigint of PostgreSQL can store."""

from __future__ import annotations

from typing import Any

from django.db import models

LARGEST = models.BigIntegerField.MAX_BIGINT


class Count(models.BigIntegerField):  # type: ignore[type-arg]  # not generic at run time
    """A count of what clients report. One reported count may be 2^53, so the sum of 1,024 of them exceeds a bigint."""

    def get_prep_value(self, value: Any) -> Any:
        count = super().get_prep_value(value)
        return min(count, LARGEST) if isinstance(count, int) else count

    def deconstruct(self) -> Any:
        """Return what Django needs for a migration: in the database it is a bigint like any other."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.BigIntegerField", arguments, options
