from celery import shared_task
from django.utils import timezone

from hub.retention.prune import prune_all
from wire import wake_worker
from wire.turns import Turn


@shared_task
def prune() -> None:
    """Delete what workspaces no longer keep."""
    turn = Turn()
    prune_all(now=timezone.now(), turn=turn)
    if turn.is_unfinished:
        wake_worker.send_after_commit(prune)
