"""Beat's process. It only sends messages: without Django's apps and models it takes half the memory."""

import gc
import logging.config
import os

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
app = Celery("hub", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.imports = ()


def run() -> None:
    """Run until stopped."""
    gc.enable()
    app.Beat(quiet=True).run()


@setup_logging.connect
def configure_logging(**signal_arguments: object) -> None:
    """Log as the web server does, and not in Celery's own form."""
    logging.config.dictConfig(settings.LOGGING)
