from celery import shared_task
from django.utils import timezone

from intents import prune as expiry


@shared_task
def prune() -> None:
    """Delete what is past its time."""
    expiry.prune(now=timezone.now())
