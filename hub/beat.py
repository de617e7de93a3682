"""Beat's Celery application. It only sends messages: without Django's apps and models it takes half the memory."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
app = Celery("hub", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.imports = ()
