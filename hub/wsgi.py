"""The WSGI application that the web server runs."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
application = get_wsgi_application()

# Every view is loaded now, not with somebody's first request, and the collector need never look at the code again:
# a full collection held up whichever request it met by some 70 ms.
import_module(settings.ROOT_URLCONF)
gc.collect()
gc.freeze()
