"""The worker's tasks for the catalog. Each can be repeated or lost without harm."""

from celery import shared_task
from django.utils import timezone

from catalog import queries
from catalog.ingest.fold import fold_reports
from workspaces.models import Environment


@shared_task
def fold(environment_id: int) -> None:
    """Fold every unfolded report of one environment."""
    environment = Environment.objects.filter(pk=environment_id).first()
    if environment:
        fold_reports(environment, now=timezone.now())


def sweep() -> None:
    """Fold, in this process, the reports for which no task was queued, because the broker was unreachable."""
    for environment_id in queries.list_environments_to_fold():
        fold(environment_id)
