"""Outside DRF's own handler: pages and unknown addresses fail in the same shape (contract 1)."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from wire.http.problems import Problem, problem_of


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answered(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        unanswered = response.status_code == 404 and not getattr(response, "is_failure", False)
        return failure(request, problem_of(Http404())) if unanswered else response

    def process_exception(request: HttpRequest, error: Exception) -> HttpResponse:
        return failure(request, problem_of(error))

    answered.process_exception = process_exception
    return answered


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400: what a middleware refused before any view, the name in Host above all."""
    return failure(request, problem_of(exception))


def failure(request: HttpRequest, problem: Problem) -> HttpResponse:
    """A problem document for machines, a page with the same words for people."""
    response = problem.response(request) if wants_json(request) else page(request, problem)
    response.is_failure = True
    return response


def page(request: HttpRequest, problem: Problem) -> HttpResponse:
    facts = {"problem": problem.as_json(getattr(request, "request_id", ""))}
    response = render(request, "failure.html", facts, status=problem.status)
    for name, value in problem.headers.items():
        response[name] = value
    return response


def wants_json(request: HttpRequest) -> bool:
    last = request.path.rsplit(".", 1)[-1]
    return request.path.startswith("/api/") or last in {"json", "csv"} or not request.accepts("text/html")
