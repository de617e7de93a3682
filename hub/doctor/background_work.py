"""Check what works in the background: the broker, the worker, the folding of reports, the delivery of alerts."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from alerts.delivery.deliver import measure_delay
from catalog.inbox_queries import measure_fold_lag
from hub.celery import app
from hub.doctor.result import Result

CONNECT_SECONDS = 5
ANSWER_SECONDS = 10.0  # a worker does one task at a time, and may have to end a fold first
LONGEST_LAG_SECONDS = 60.0  # the sweep looks every 10 s


def check_broker() -> Result:
    """Connect to the broker; the file broker's folder must be there."""
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        folder = settings.HUB_DATA_DIR / "broker"
        if not folder.is_dir():
            return Result("wrong", f"{folder} is missing.", "Start the hub on this machine: it makes the folder.")
        return Result("ok", f"The folder {folder}.")
    with app.connection_for_write() as broker:
        address = broker.as_uri()  # without the password
        try:
            broker.ensure_connection(max_retries=1, timeout=CONNECT_SECONDS)
        except Exception as error:  # each of kombu's transports has its own errors
            return Result(
                "wrong",
                f"{address} does not answer ({type(error).__name__}): work starts up to 13 s late.",
                "Start the broker, or correct CELERY_BROKER_URL.",
            )
    return Result("ok", f"{address} answers.")


def check_worker() -> Result:
    """Send a message through the broker to all workers, and wait for the first answer."""
    try:
        answers = app.control.ping(timeout=ANSWER_SECONDS, limit=1)
    except Exception as error:  # each of kombu's transports has its own errors
        return Result(
            "wrong",
            f"The broker takes no messages ({type(error).__name__}).",
            "Read the broker's log: its memory or disk may be full.",
        )
    if not answers:
        return Result(
            "wrong",
            f"No worker answered within {ANSWER_SECONDS:.0f} s.",
            "Start the hub or its worker, with the same CELERY_BROKER_URL. If it runs, it is busy: read its log. "
            "RabbitMQ also holds messages back while it has an alarm for memory or disk.",
        )
    return Result("ok", f"{next(iter(answers[0]))} answers.")


def check_fold_lag() -> Result:
    """Check how long the oldest witness report has waited for the worker."""
    lag = measure_fold_lag(now=timezone.now())
    if lag is not None and lag > LONGEST_LAG_SECONDS:
        return Result(
            "wrong",
            f"The oldest witness report has waited for {lag:,.0f} s.",
            "If no worker answers, start it. Else read its log, or start another worker.",
        )
    return Result(
        "ok", "No witness report waits." if lag is None else f"The oldest witness report has waited for {lag:.0f} s."
    )


def check_alerts() -> Result:
    """Check how long a delivery has waited for the worker. The page of alerts shows the targets that fail."""
    delay = measure_delay(now=timezone.now())
    if delay is not None and delay > LONGEST_LAG_SECONDS:
        return Result(
            "wrong",
            f"A delivery of an alert has been due for {delay:,.0f} s.",
            "If no worker answers, start it. Else read its log.",
        )
    return Result("ok", "No delivery of an alert is late.")
