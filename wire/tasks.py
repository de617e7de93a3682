from celery import shared_task
from django.utils import timezone

from wire.redelivery import idempotency


@shared_task
def prune() -> None:
    """Delete expired stored answers."""
    idempotency.delete_expired_answers(now=timezone.now())
