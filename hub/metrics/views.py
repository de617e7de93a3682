"""GET /metrics, for clients with the token."""

from __future__ import annotations

import os
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import REGISTRY, CollectorRegistry, exposition
from prometheus_client.multiprocess import MultiProcessCollector

from hub.metrics.database_state import DatabaseState
from wire.http.problems import Problem
from wire.postgresql.answer_timeout import bound_answers

STATE_SECONDS = 5  # how long a scrape waits for the database; Prometheus waits 10 s for a scrape
DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # a name that prometheus_client prescribes


def metrics(request: HttpRequest) -> HttpResponse:
    """Answer in the form that the scraper accepts: OpenMetrics, or Prometheus's older text."""
    check_token(request)
    encode, content_type = exposition.choose_encoder(request.headers.get("Accept", ""))
    state = CollectorRegistry()
    state.register(DatabaseState())
    with bound_answers(STATE_SECONDS):
        body = b"".join(encode(registry).removesuffix(b"# EOF\n") for registry in (gather_processes(), state))
    end = b"# EOF\n" if "openmetrics" in content_type else b""
    return HttpResponse(body + end, content_type=content_type, headers={"Cache-Control": "no-store"})


def check_token(request: HttpRequest) -> None:
    """Raise Problem `not-signed-in` unless the request has the token of METRICS_TOKEN."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_right = bool(token) and secrets.compare_digest(token.encode(), settings.METRICS_TOKEN.encode())
    if scheme.lower() != "bearer" or not is_right:
        cure = "Send `Authorization: Bearer TOKEN`; the token is METRICS_TOKEN, or in metrics.token in HUB_DATA_DIR."
        raise Problem("not-signed-in", cure, headers={"WWW-Authenticate": "Bearer"})


def gather_processes() -> CollectorRegistry:
    """Return the registry of this process, or one that sums up the files of all processes of this machine."""
    if DIRECTORY_VARIABLE not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the package types all but this class
    return registry
