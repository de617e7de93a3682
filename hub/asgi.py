"""The application that the web server runs: Django's, behind hub.web."""

import gc
import os
from importlib import import_module

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from hub.web.application import Application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
django.setup(set_prefix=False)  # at its end, hub.apps enables garbage collection
gc.disable()
application = Application(WSGIHandler())
import_module(settings.ROOT_URLCONF)  # load every view now instead of at the first request

# Exempt the loaded code from garbage collection: a full collection delayed the request during which it ran by 70 ms.
gc.freeze()
gc.enable()
