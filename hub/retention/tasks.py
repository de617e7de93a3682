from celery import shared_task
from django.utils import timezone

from hub.retention.prune import prune_all


@shared_task
def prune() -> None:
    """Delete what workspaces no longer keep."""
    prune_all(now=timezone.now())
