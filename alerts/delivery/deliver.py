"""Make deliveries: claim a target for a while, send the first of its waiting deliveries, record the result.

No transaction is open and no row is locked while a message is sent. If a worker dies meanwhile, its claim expires and
another worker sends the same message again. So a message can arrive twice, but none is skipped.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone

from alerts.delivery.answer import Answer
from alerts.delivery.messages import Message
from alerts.delivery.retries import LONGEST_PAUSE, find_next_attempt
from alerts.delivery.send import send
from alerts.models import MAX_FAULT, Delivery, Target
from wire.metrics.definitions import ALERT_DELIVERIES, count_after_commit
from workspaces.models import Environment

LEASE = timedelta(minutes=3)  # longer than one attempt takes: looking up a name, connecting, waiting for the answer
# The results as metrics name them
RESULTS = {Delivery.DELIVERED: "delivered", Delivery.WAITING: "failed", Delivery.DEAD: "dead"}
log = logging.getLogger("affidavit.alerts")

# Claim the target that has been due for the longest. Leave out targets that another worker delivers to at the moment.
# A time that is further away than any pause or lease was set before the clock was set back, and counts as over.
CLAIM = """
UPDATE alerts_target SET lease = %(lease)s, lease_until = %(until)s WHERE id = (
  SELECT target.id FROM alerts_target AS target JOIN workspaces_workspace AS workspace ON workspace.id = workspace_id
   WHERE (target.next_attempt_at <= %(now)s OR target.next_attempt_at > %(latest_attempt)s)
     AND (lease_until IS NULL OR lease_until <= %(now)s OR lease_until > %(latest_lease)s) AND removed_at IS NULL
   ORDER BY target.next_attempt_at LIMIT 1 FOR NO KEY UPDATE OF target SKIP LOCKED
) RETURNING id
"""


@dataclass(frozen=True)
class Claim:
    """A target to which only this worker delivers until the lease ends."""

    target_id: int
    lease: uuid.UUID


def claim_target(*, now: datetime) -> Claim | None:
    """Claim a target with a due delivery. Return None if there is none that no other worker has claimed."""
    lease = uuid.uuid4()
    # The clocks of several hosts may differ a little, so a lease that ends somewhat later than one from now is valid.
    times = {"now": now, "until": now + LEASE, "latest_lease": now + 2 * LEASE, "latest_attempt": now + LONGEST_PAUSE}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"lease": lease, **times})
        row = cursor.fetchone()
    return Claim(row[0], lease) if row else None


def deliver(claim: Claim, *, now: datetime | None = None) -> bool:
    """Send the first waiting delivery of the target. Return whether its arrival was recorded.

    now: the time, by default that of the clock.
    """
    target = Target.objects.select_related("workspace").filter(pk=claim.target_id).first()
    if target is None:
        return False
    delivery = _find_first(target)
    answer = Answer()
    if delivery is not None:
        answer = _try_send(target, delivery, now=now or timezone.now())
    return _record_attempt(claim, target, delivery, answer, now=now or timezone.now())


def measure_delay(*, now: datetime) -> float | None:
    """Return for how many seconds the oldest due delivery has waited for a worker; None if none waits."""
    targets = Target.objects.filter(next_attempt_at__lte=now, workspace__removed_at=None).exclude(lease_until__gt=now)
    first_due_at = targets.aggregate(first=Min("next_attempt_at"))["first"]
    return (now - first_due_at).total_seconds() if first_due_at else None


def build_message(delivery: Delivery) -> Message:
    event = delivery.event
    return Message(event.kind, event.title, event.url, delivery.workspace.name, event.at, event.facts)


def _find_first(target: Target) -> Delivery | None:
    """Return the delivery that has waited longest: the next in order, whether its next attempt is due or not."""
    queue = Delivery.objects.filter(workspace=target.workspace_id, target=target, state=Delivery.WAITING)
    return queue.select_related("event", "workspace").order_by("queued_at", "id").first()


def _try_send(target: Target, delivery: Delivery, *, now: datetime) -> Answer:
    try:
        return send(target, build_message(delivery), str(delivery.message_id), now=now)
    except Exception as error:  # for example an address that cannot be decrypted; other deliveries go on
        log.exception("an alert could not be delivered")
        return Answer(fault=f"failed in the hub ({type(error).__name__})")


@transaction.atomic
def _record_attempt(claim: Claim, target: Target, delivery: Delivery | None, answer: Answer, *, now: datetime) -> bool:
    """Store the result of the attempt, and when the target is due again.

    Store nothing if the claim was lost, or if the workspace was removed.
    """
    environment = Environment.objects.filter(workspace=target.workspace_id).order_by("pk").first()
    if environment is None or not environment.try_hold():
        return False
    claimed_target = Target.objects.select_for_update(no_key=True).filter(pk=claim.target_id, lease=claim.lease)
    if not claimed_target.exists():
        return False
    is_delivered = delivery is not None and not answer.fault
    if delivery is not None:
        _update_delivery(delivery, answer, now=now)
        count_after_commit(ALERT_DELIVERIES.labels(RESULTS[delivery.state]), 1)
    next_delivery = _find_first(target)
    due_at = next_delivery.next_attempt_at if next_delivery else None
    if due_at is not None:  # at the end of those that are due: a slow target with a long queue holds back no other
        due_at = max(due_at, now)
    claimed_target.update(lease=None, lease_until=None, next_attempt_at=due_at)
    return is_delivered


def _update_delivery(delivery: Delivery, answer: Answer, *, now: datetime) -> None:
    delivery.attempts += 1
    delivery.last_attempt_at = now
    delivery.code, delivery.fault = answer.code, (answer.fault or answer.note)[:MAX_FAULT]
    delivery.next_attempt_at = None
    if answer.fault:
        delivery.next_attempt_at = find_next_attempt(
            delivery.attempts, delivery.queued_at, now=now, retry_after=answer.retry_after
        )
    if delivery.next_attempt_at is None:
        delivery.state = Delivery.DEAD if answer.fault else Delivery.DELIVERED
        delivery.finished_at = now
    delivery.save(
        update_fields=["attempts", "last_attempt_at", "code", "fault", "next_attempt_at", "state", "finished_at"]
    )
