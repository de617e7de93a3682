"""Answer the errors that DRF's handler does not see, such as those of pages and unknown addresses (contract §1)."""

from __future__ import annotations

import sys
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.module_loading import import_string
from rest_framework.exceptions import MethodNotAllowed

from wire.errors import DomainError
from wire.http.body import BODY_BROKEN, BODY_TOO_SLOW, BodyTooSlow, BrokenBody
from wire.http.problems import FailureResponse, Problem, build_document, find_cause, render_problem

FOR_MONITORS = ("/healthz", "/readyz", "/metrics")


class FailureMiddleware:
    """Turn errors that a view raised, and Django's own 404, 405 and 412, into the hub's answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.META.get(BODY_TOO_SLOW):
            return render_failure(request, BodyTooSlow())
        if request.META.get(BODY_BROKEN):
            return render_failure(request, BrokenBody())
        if "\0" in request.path:  # no address has a NUL, and PostgreSQL refuses a text with one
            return render_failure(request, find_cause(Http404()))
        response = self.get_response(request)
        if isinstance(response, FailureResponse):
            return response
        if response.status_code == 404:
            return render_failure(request, find_cause(Http404()))
        if response.status_code == 405:
            refusal = render_failure(request, find_cause(MethodNotAllowed(request.method or "")))
            refusal["Allow"] = response["Allow"]
            return refusal
        if response.status_code == 412:
            detail = "This is not the version that If-Match names, or has no date. Send the request without conditions."
            return render_failure(request, Problem("precondition-failed", detail))
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        return render_failure(request, find_cause(error))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: answer a request that a middleware refused before any view, mostly because of its Host."""
    return render_failure(request, find_cause(exception))


def answer_uncaught_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: answer what a middleware raised. Django calls it inside an `except`."""
    error = sys.exception()
    return render_failure(request, find_cause(error if isinstance(error, Exception) else RuntimeError("unknown")))


def refuse_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW: refuse a form that lacks the token of its page, or was sent from another site."""
    if reason.startswith("CSRF cookie"):  # there is none, or it is not Django's: the page sets it again
        cure = "Allow cookies for this site, reload the page and send the form again."
    elif reason.startswith("CSRF token"):
        cure = "You may have signed in since the page was opened: reload the page and send the form again."
    else:
        cure = "The form came from another address than the hub's: open its page at the hub and send the form again."
    detail = f"Nothing was changed. {cure}"
    return render_failure(request, Problem("form-refused", detail))


def render_failure(request: HttpRequest, error: DomainError) -> HttpResponse:
    """Return a problem document for machines, a page with the same words for people."""
    return render_problem(error) if wants_json(request) else render_page(request, error)


def render_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    """Return the page of a failure, inside the frame that settings.FAILURE_FRAME finds, if the database answers."""
    context = {"problem": build_document(error), "known_in": error.known_in, "is_form": request.method == "POST"}
    try:
        frame = import_string(settings.FAILURE_FRAME)(request)
        page = render_to_string("failure.html", {**frame, **context}, request)
    except DatabaseError:  # render without the request, because its user is in the database
        page = render_to_string("failure.html", context)
    return FailureResponse(page, error)


def wants_json(request: HttpRequest) -> bool:
    if request.path in FOR_MONITORS and "text/html" not in request.headers.get("Accept", ""):
        return True
    extension = request.path.rsplit(".", 1)[-1]
    return request.path.startswith("/api/") or extension in {"json", "csv"} or not request.accepts("text/html")
