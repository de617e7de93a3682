"""The worker's process. Its log lines have the id of the request that caused the task."""

from __future__ import annotations

import logging.config
import os
import socket
import sys
import warnings
from typing import Any

from celery import Task
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings

from hub.celery import app
from wire.request_context import current_request_id
from wire.wake_worker import REQUEST_ID_HEADER

# How long an idle worker may take to notice that it is to stop. Celery looks only at its timers, up to 10 s apart.
NOTICE_SECONDS = 1.0


def run() -> int:
    """Run until stopped. Return the exit status."""
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # skip Django's checks of the code, which would load every page
    # Otherwise Celery would print a line in its own form when it is asked to stop.
    sys.__stdout__ = None  # type: ignore[misc]  # Python allows None, as in a program without a console
    worker: Any = app.Worker(  # its stubs lack the timer
        hostname=name_worker(),
        pool_cls="solo",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    # Celery turned these warnings on: it would log one about its settings whenever the broker's connection is lost.
    warnings.simplefilter("ignore", CPendingDeprecationWarning)
    if worker.use_eventloop:  # with Redis and RabbitMQ. Between two timers, it would not notice that it is to stop
        worker.timer.call_repeatedly(NOTICE_SECONDS, lambda: None)
    worker.start()
    return worker.exitcode or 0


def name_worker() -> str:
    """Return the name of this worker: its host's, and for RabbitMQ with the number of its process.

    RabbitMQ gives the queue of a name to one connection only, so a second worker of that name would get no messages.
    The other brokers remember each name for good, so there it must not change with each start.
    """
    is_rabbitmq = settings.CELERY_BROKER_URL.startswith(("amqp", "pyamqp"))
    return f"{f'celery-{os.getpid()}' if is_rabbitmq else 'celery'}@{socket.gethostname()}"


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
