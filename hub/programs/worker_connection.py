"""The worker's connection to the broker: a broker that refuses the worker is asked again, like one that is away."""

from __future__ import annotations

import time

from celery.worker import consumer

PAUSE_SECONDS = 5


class Consumer(consumer.Consumer):
    """Celery's consumer, which pauses after a refusal: Celery itself would try again at once, five times a second."""

    channel_errors: tuple[type[Exception], ...]

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        super().on_connection_error_before_connected(exc)
        time.sleep(PAUSE_SECONDS)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        super().on_connection_error_after_connected(exc)
        if isinstance(exc, self.channel_errors):
            time.sleep(PAUSE_SECONDS)
