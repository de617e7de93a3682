from celery import shared_task
from django.utils import timezone

from hub.local.database.monthly_logs import create_partitions
from hub.retention.prune import prune_all
from wire import wake_worker
from wire.postgresql.planner_statistics import analyze_partitioned_tables
from wire.task_turns import Turn

UNTIL_NEXT_NIGHT = 20 * 3600  # seconds


@shared_task
def prepare_partitions() -> None:
    """Make the partitions of coming months, and gather statistics of partitioned tables."""
    create_partitions(now=timezone.now())
    analyze_partitioned_tables()


@shared_task(expires=UNTIL_NEXT_NIGHT)
def prune() -> None:
    """Delete what workspaces no longer keep. After its turn, the rest waits for a worker, however busy that is."""
    turn = Turn()
    prune_all(now=timezone.now(), turn=turn)
    if turn.is_unfinished:
        wake_worker.send_after_commit(prune)
