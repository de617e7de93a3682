"""What the worker does for the catalog; every task can be repeated or lost."""

from celery import shared_task
from django.utils import timezone

from catalog import queries
from catalog.ingest import fold as folding
from catalog.ingest import prune as pruning
from workspaces.models import Environment


@shared_task
def fold(environment_id: int) -> None:
    """Fold what waits in one environment."""
    environment = Environment.objects.filter(pk=environment_id).first()
    if environment:
        folding.fold(environment, now=timezone.now())


def sweep() -> None:
    """Fold what no doorbell announced, here and now: the broker may be away."""
    for environment_id in queries.environments_with_unfolded():
        fold(environment_id)


@shared_task
def prune() -> None:
    """Forget report ids past their 400 days."""
    pruning.prune(now=timezone.now())
