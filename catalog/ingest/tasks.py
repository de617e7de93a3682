"""The worker's task that folds reports, and its sweep. Both can be repeated or lost without harm."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from catalog import inbox_queries
from catalog.ingest.fold import fold_reports
from catalog.ingest.report_batch import is_being_folded
from wire import wake_worker
from wire.task_turns import Turn
from workspaces.models import Environment

LONGEST_WAIT = timedelta(seconds=3)  # the sweep folds a report that has waited longer for its task


@shared_task(name="catalog.tasks.fold")  # messages of earlier versions name it so
def fold(environment_id: int) -> None:
    """Fold the unfolded reports of one environment for one turn; if some may be left, send this task again."""
    if fold_for_a_turn(environment_id):
        wake_worker.send_after_commit(fold, environment_id)


def sweep() -> None:
    """Fold, in this process, the reports that have waited longer than LONGEST_WAIT.

    Their task may never have been queued, because the broker was unreachable. Reports that have waited less are left to
    their task. An environment that a worker is folding is left to that worker, because this thread would take processor
    time from the tasks of its process.
    """
    now = timezone.now()
    environment_ids = inbox_queries.list_environments_to_fold(after=now - LONGEST_WAIT, now=now)
    while environment_ids:
        idle_ids = [environment_id for environment_id in environment_ids if not is_being_folded(environment_id)]
        environment_ids = [environment_id for environment_id in idle_ids if fold_for_a_turn(environment_id)]


def fold_for_a_turn(environment_id: int) -> bool:
    """Fold reports of one environment for one turn. Return whether some may be left."""
    environment = Environment.objects.filter(pk=environment_id).first()
    turn = Turn()
    if environment:
        fold_reports(environment, turn=turn)
    return turn.is_unfinished
