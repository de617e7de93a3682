"""Traces for OpenTelemetry, if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise nothing imports this module.

OpenTelemetry's environment variables configure them. A span says what was done and how long it took, without values.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.celery import CeleryInstrumentor
from opentelemetry.instrumentation.django import DjangoInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.status import Status

# Tracing begins behind this middleware: tracing itself refuses a wrong Host, and such an answer needs an id, too.
AFTER = "wire.http.request_id.RequestIdMiddleware"
# The attributes to keep. All others are dropped: addresses, paths with their tokens, headers, arguments of tasks.
ATTRIBUTES = frozenset(
    {"http.method", "http.request.method", "http.route", "http.status_code", "http.response.status_code"}
    | {"db.system", "db.system.name", "db.statement", "db.query.text"}  # statements have placeholders for values
    | {"celery.action", "celery.state", "celery.task_name", "exception.type"}
)


class ValueFreeExporter(SpanExporter):
    """Send spans without any values of clients or of the database."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([remove_values(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def remove_values(span: ReadableSpan) -> ReadableSpan:
    """Return the span with its name, times and status code, and the attributes that ATTRIBUTES lists.

    A span of a request is named after its method and route, because its own name may hold values.
    """
    attributes = select_attributes(span.attributes)
    name = span.name
    if span.kind is trace.SpanKind.SERVER:
        name = f"{attributes.get('http.method') or 'HTTP'} {attributes.get('http.route', '')}".strip()
    return ReadableSpan(
        name=name,
        context=remove_state(span.context),
        parent=remove_state(span.parent),
        resource=span.resource,
        attributes=attributes,
        events=[Event(event.name, select_attributes(event.attributes), event.timestamp) for event in span.events],
        links=[trace.Link(remove_state(link.context)) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def remove_state(context: Any) -> Any:
    """Return the ids of a span without its state, which is the header `tracestate` of the request; None stays None."""
    if context is None:
        return None
    return trace.SpanContext(context.trace_id, context.span_id, context.is_remote, context.trace_flags)


def select_attributes(attributes: Any) -> dict[str, Any]:
    return {name: value for name, value in (attributes or {}).items() if name in ATTRIBUTES}


def start_tracing(process: str) -> None:
    """Trace requests, statements and tasks of this process; call it before Django loads its middleware."""
    os.environ.setdefault("OTEL_SERVICE_NAME", f"affidavit-{process}")
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(ValueFreeExporter(OTLPSpanExporter())))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(middleware_position=settings.MIDDLEWARE.index(AFTER) + 1)
    PsycopgInstrumentor().instrument(skip_dep_check=True)  # the wheel with binaries has another name
    CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]  # its package types all but this class
    create_record = logging.getLogRecordFactory()

    def create_traced_record(*arguments: Any, **options: Any) -> logging.LogRecord:
        record = create_record(*arguments, **options)
        context = trace.get_current_span().get_span_context()
        record.trace_id = trace.format_trace_id(context.trace_id) if context.is_valid else ""
        return record

    logging.setLogRecordFactory(create_traced_record)
