"""What the worker does for all workspaces."""

from celery import shared_task
from django.utils import timezone

from workspaces.limits.database_buckets import PRUNED_ROWS, prune_buckets


@shared_task
def prune_token_buckets() -> None:
    """Delete the rows of token buckets that are full again."""
    while prune_buckets(now=timezone.now()) >= PRUNED_ROWS:
        pass
