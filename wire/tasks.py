from celery import shared_task
from django.utils import timezone

from wire.redelivery import idempotency


@shared_task
def prune() -> None:
    """Delete stored answers past their time."""
    idempotency.delete_expired_answers(now=timezone.now())
