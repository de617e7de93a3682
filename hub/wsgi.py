"""The WSGI application that the web server runs."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hub.settings")
application = get_wsgi_application()

# Every view is loaded now, not with somebody's first request, and the collector need never look at the code again:
# a full collection held up whichever request it met by some 70 ms.
get_resolver().url_patterns  # noqa: B018 a property that loads
gc.collect()
gc.freeze()
