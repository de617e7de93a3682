"""Read the intents that the hub minted for the tool call of a rejection."""

from __future__ import annotations

from django.db.models import QuerySet

from intents.models import MintedIntent, Rejection
from workspaces.models import Environment


def find_intent(environment: Environment, rejection: Rejection) -> MintedIntent | None:
    """Return the last intent that the hub minted for a rejection's tool call before the rejection, if any.

    For `not-yet-valid` it is the first one after the rejection, whose time is that of the backend's slow clock.

    All environments that the reader may see are searched: an intent of another one explains an `audience-mismatch`.
    """
    if not rejection.tool_call_id:
        return None
    if rejection.reason == "not-yet-valid":
        later = _select_intents(environment, rejection).filter(issued_at__gt=rejection.occurred_at)
        return later.select_related("environment").order_by("issued_at", "id").first()
    intents = select_intents_before(environment, rejection)
    return intents.select_related("environment").order_by("-issued_at", "-id").first()


def select_intents_before(environment: Environment, rejection: Rejection) -> QuerySet[MintedIntent]:
    """Return the intents that were minted for a rejection's tool call before the rejection.

    They are of all environments that the reader may see.
    """
    return _select_intents(environment, rejection).filter(issued_at__lte=rejection.occurred_at)


def _select_intents(environment: Environment, rejection: Rejection) -> QuerySet[MintedIntent]:
    environments = list(environment.readable.values_list("pk", flat=True))
    return MintedIntent.objects.filter(environment__in=environments, tool_call_id=rejection.tool_call_id)
