"""The application that the web server runs: Django's, behind hub.web."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from hub.web.application import Application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
application = Application(get_wsgi_application())

# Load every view now instead of at the first request, and exempt the loaded code from garbage collection: a full
# collection delayed the request during which it ran by some 70 ms.
import_module(settings.ROOT_URLCONF)
gc.freeze()
