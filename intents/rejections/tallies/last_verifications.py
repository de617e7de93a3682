"""Read when each operation was last verified, over all time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Max

from intents.models import ALL_VERSIONS, VerificationRollup
from workspaces.models import Environment


def read_last_verifications(environment: Environment) -> Iterator[tuple[str, datetime]]:
    """Yield each operation that was ever verified, accepted or not, with the time of its last verification.

    The operation "" stands for all verifications that were reported without one.
    """
    months = VerificationRollup.objects.filter(environment=environment, grain="m", version__gt=ALL_VERSIONS)
    yield from months.values_list("operation").annotate(last_at=Max("last_at")).order_by("operation")
