from celery import shared_task
from django.utils import timezone

from wire.redelivery import idempotency


@shared_task
def prune() -> None:
    """Delete kept answers past their time."""
    idempotency.prune(now=timezone.now())
