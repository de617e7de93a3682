"""The periodic work of alerts."""

from celery import shared_task
from django.utils import timezone

from alerts.evaluation.fire import evaluate_all
from wire import wake_worker
from wire.task_turns import Turn


@shared_task
def evaluate() -> None:
    """Evaluate the alerts that are due."""
    turn = Turn()
    evaluate_all(now=timezone.now(), turn=turn)
    if turn.is_unfinished:
        wake_worker.send_after_commit(evaluate)
