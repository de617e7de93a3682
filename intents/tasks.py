"""The periodic work of intents."""

from celery import shared_task
from django.utils import timezone

from intents.gate.confirmations import forget_args_hashes


@shared_task
def forget() -> None:
    """Drop the argsHash that expired confirmations kept for the page."""
    forget_args_hashes(now=timezone.now())
