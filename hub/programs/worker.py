"""The worker's process. Its log lines have the id of the request that caused the task."""

from __future__ import annotations

import logging.config
import os
import sys
from typing import Any

from celery import Task
from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings

from hub.celery import app
from wire.request_context import current_request_id
from wire.wake_worker import REQUEST_ID_HEADER


def run() -> int:
    """Run until stopped. Return the exit status."""
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # skip Django's checks of the code, which would load every page
    # Otherwise Celery would print a line in its own form when it is asked to stop.
    sys.__stdout__ = None  # type: ignore[misc]  # Python allows None, as in a program without a console
    worker = app.Worker(pool_cls="solo", quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True)
    worker.start()
    return worker.exitcode or 0


@setup_logging.connect
def configure_logging(**signal_arguments: object) -> None:
    """Log as the web server does, and not in Celery's own form."""
    logging.config.dictConfig(settings.LOGGING)


@task_prerun.connect
def enter_request(task: Task[Any, Any], **signal_arguments: object) -> None:
    """Give the lines of a task the id of the request that caused it."""
    current_request_id.set(task.request.get(REQUEST_ID_HEADER) or "")


@task_postrun.connect
def leave_request(**signal_arguments: object) -> None:
    current_request_id.set("")
