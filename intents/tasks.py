"""The periodic work of intents."""

from celery import shared_task
from django.utils import timezone

from intents.reports.prune import delete_expired


@shared_task
def prune() -> None:
    """Delete rows that are past their time, batch by batch until none is left."""
    now = timezone.now()
    while delete_expired(now=now):
        pass
