"""Read what is stored about an expired call: its intents, its other rejections, and other calls around that time."""

from __future__ import annotations

from django.db.models import Max, Q, Sum

from intents.models import MintedIntent, Rejection, VerificationTally
from intents.rejections.detail.expiry_causes import ExpiryFacts
from intents.rejections.intents_of_rejections import select_intents_before
from intents.reports.verification import ACCEPTED
from wire.time.period import QUARTER, floor_to_quarter
from workspaces.models import Environment


def read_expiry(environment: Environment, rejection: Rejection) -> ExpiryFacts:
    """Return the facts about a rejection with the reason `expired`."""
    start = floor_to_quarter(rejection.occurred_at) - QUARTER
    end = start + 3 * QUARTER
    intents = MintedIntent.objects.none()
    earlier = Rejection.objects.none()
    if rejection.tool_call_id:
        intents = select_intents_before(environment, rejection)
        earlier = Rejection.objects.filter(
            environment=environment, tool_call_id=rejection.tool_call_id, occurred_at__lt=rejection.occurred_at
        )
    accepted = VerificationTally.objects.filter(
        environment=environment, start__gte=start, start__lt=end, result=ACCEPTED
    ).aggregate(all=Sum("count"), alike=Sum("count", filter=Q(operation=rejection.operation)))
    expired = Rejection.objects.filter(
        environment=environment, occurred_at__gte=start, occurred_at__lt=end, reason=rejection.reason
    ).exclude(pk=rejection.pk)
    if rejection.tool_call_id:
        expired = expired.exclude(tool_call_id=rejection.tool_call_id)
    is_by_known_key = rejection.api_key_id is not None
    alike = expired.filter(api_key_id=rejection.api_key_id) if is_by_known_key else expired.none()
    return ExpiryFacts(
        rejected_at=rejection.occurred_at,
        ended_at=intents.aggregate(last=Max("expires_at"))["last"],
        intents=intents.count(),
        earlier_rejections=int(earlier.aggregate(sum=Sum("count"))["sum"] or 0),
        accepted=int(accepted["all"] or 0),
        accepted_alike=int(accepted["alike"] or 0) if rejection.operation else 0,
        expired_alike=int(alike.aggregate(sum=Sum("count"))["sum"] or 0),
    )
