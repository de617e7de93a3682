"""The periodic work of intents."""

from celery import shared_task
from django.utils import timezone

from intents.gate.confirmations import forget_args_hashes
from intents.reports.prune import delete_expired


@shared_task
def prune() -> None:
    """Delete expired rows, batch by batch until none is left."""
    now = timezone.now()
    while delete_expired(now=now):
        pass


@shared_task
def forget() -> None:
    """Drop what expired confirmations kept to be shown."""
    forget_args_hashes(now=timezone.now())
