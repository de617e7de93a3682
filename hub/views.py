"""The overview, which needs every domain, and the browsable documentation of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from catalog import queries as catalog
from hub import overview as rules
from intents import queries as intents
from outcomes import queries as outcomes
from wire.ranges import Range
from wire.tables import Table
from workspaces.models import Environment
from workspaces.pages import Page


# Swagger's own components set style attributes; this page shows nothing of anybody's data.
@csp_update({"style-src": ["'unsafe-inline'"]})
def api_docs(request: HttpRequest) -> HttpResponse:
    return render(request, "hub/api_docs.html")
