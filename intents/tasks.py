"""The periodic work of intents."""

from celery import shared_task
from django.utils import timezone

from intents.gate.args_hashes import forget_args_hashes


@shared_task
def forget() -> None:
    """Drop the argsHash of confirmations that have expired, or whose decision took effect."""
    forget_args_hashes(now=timezone.now())
