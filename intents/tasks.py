from celery import shared_task
from django.utils import timezone

from intents.reports import prune as expiry


@shared_task
def prune() -> None:
    """Delete what is past its time, batch by batch until nothing is."""
    now = timezone.now()
    while expiry.prune(now=now):
        pass
