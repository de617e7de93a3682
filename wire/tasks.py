from celery import shared_task
from django.utils import timezone

from wire import wake_worker
from wire.redelivery import idempotency
from wire.task_turns import Turn


@shared_task
def prune() -> None:
    """Delete expired stored answers."""
    turn = Turn()
    turn.repeat(lambda: idempotency.delete_expired_answers(now=timezone.now()))
    if turn.is_unfinished:
        wake_worker.send_after_commit(prune)
