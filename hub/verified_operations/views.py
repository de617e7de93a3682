"""The pages of the catalog, with each operation's last verification, which comes from intents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.http import HttpRequest

from affidavit.operations import Identity, strip_names
from catalog.browse import views as catalog_views
from catalog.browse.operation import views as operation_views
from intents.models import split_operation
from intents.rejections.tallies.first_and_last_verifications import read_last_verifications
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page


def show_catalog(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the list of operations."""
    return catalog_views.show_catalog(request, environment, period, verifications=index_verifications(environment))


def show_operation(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one operation with its shapes."""
    return operation_views.show_operation(request, environment, period, verifications=index_verifications(environment))


def index_verifications(environment: Environment) -> Mapping[Identity, datetime]:
    """Return when each operation was last verified, by the catalog's identity: names of parameters do not matter.

    Verifications of other transports, or without an operation, are all under Identity("", "").
    """
    moments: dict[Identity, datetime] = {}
    for operation, last_at in read_last_verifications(environment):
        method, path = split_operation(operation)
        identity = Identity(method, strip_names(path))
        moments[identity] = max(last_at, moments.get(identity, last_at))
    return moments
