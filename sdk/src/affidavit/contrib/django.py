"""For Django 4.2 and later: signed intents (contract §3), witnessed shapes (contract §4).

    MIDDLEWARE = ["affidavit.contrib.django.IntentMiddleware", ...]  # every view; only the witness before it
    AFFIDAVIT_PROTECTION = "shop.intents.protection"                 # an affidavit.Protection, or its dotted path

    @intent_required(minimum_version=2)                              # one view; needs the setting only
    def refund(request): ...  # request.intent.args are the verified arguments

    MIDDLEWARE = ["affidavit.contrib.django.WitnessMiddleware", ...] # observes views; put it before all others
    AFFIDAVIT_WITNESS = "shop.witness.witness"                       # an affidavit.Witness, or its dotted path

Intents are verified outside the request's transaction, with and without ATOMIC_REQUESTS: a rollback restores no nonce,
and a response is kept only after its transaction is committed.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast, overload

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, RequestDataTooBig
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from affidavit._intents.intent import Intent
from affidavit._paths.routes import parse_route_path
from affidavit._protection.deliveries import StoredResponse
from affidavit._protection.problem_responses import answer_body_incomplete, answer_body_too_large
from affidavit._protection.protection import NO_DEMANDS, Admission, Call, Demands, Protection, find_no_route
from affidavit.contrib._django.stores import DjangoDeliveries, DjangoNonces, create_tables
from affidavit.contrib._django.witness import WitnessMiddleware, find_prefix, note_prefix

__all__ = [
    "DjangoDeliveries",
    "DjangoNonces",
    "IntentMiddleware",
    "VerifiedRequest",
    "WitnessMiddleware",
    "create_tables",
    "intent_exempt",
    "intent_required",
]

View = Callable[..., Any]
_P = ParamSpec("_P")
_R = TypeVar("_R")

_VIEW_RULE = "affidavit_intent"
_ADMISSION = "_affidavit_admission"
_VERIFIED_CALL = "_affidavit_verified"
_MAY_BE_CANCELLED = "_affidavit_may_be_cancelled"
_PAUSE = 0.1  # seconds


class VerifiedRequest(HttpRequest):
    """The request of a protected view, for a type checker: annotate the view's argument with it."""

    intent: Intent


class IntentMiddleware:
    """Verify every request to a view, before the view runs and outside its transaction.

    These are not verified: views decorated with `intent_exempt`, requests that `protection.exempt` names, and views
    decorated with `intent_required`, which verify themselves. A verified request has its intent in `request.intent`,
    and needs no CSRF token: no browser can send an intent. Put this middleware before all others but the witness, so
    that it runs before the check of the CSRF token.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._protection = _load_protection()
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return the response of the site, kept for a retry if the call was admitted; or a coroutine for it."""
        note_prefix(request)
        if self._is_async:
            return self._call_async(request)
        try:
            response = self._get_response(request)
        except BaseException:  # the view failed: a retry may run
            _abandon(request)
            raise
        admission = getattr(request, _ADMISSION, None)
        if admission is not None:
            _finish(admission, response, self._protection.max_kept)
        return response

    async def _call_async(self, request: HttpRequest) -> Any:
        context = copy_context()
        site = asyncio.create_task(self._get_response(request), context=context)
        cancellation = await _wait_to_end(site, lambda: getattr(request, _MAY_BE_CANCELLED, False))
        _take_over(context)
        try:
            response = site.result()
        except BaseException:  # the view failed: a retry may run
            await _settle(_abandon, request)
            raise
        admission = getattr(request, _ADMISSION, None)
        if admission is not None and not admission.is_settled:
            await _settle(_finish, admission, response, self._protection.max_kept)
        if cancellation is not None:
            raise cancellation
        return response

    def process_view(self, request: HttpRequest, view: View, args: Any, kwargs: Any) -> HttpResponse | None:
        """Return the refusal, if there is one."""
        is_open = hasattr(view, _VIEW_RULE) or self._protection.exempt(request.method or "", request.path)
        # No thread can be cancelled: if its client is gone, a view there does its work all the same.
        setattr(request, _MAY_BE_CANCELLED, is_open or _is_async(view))
        if is_open:
            return None
        refusal, _ = _find_refusal(request, self._protection, NO_DEMANDS)
        if refusal is None:
            request.csrf_processing_done = True  # type: ignore[attr-defined]  # what CsrfViewMiddleware reads
        return refusal

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Abandon the call of a view that raises, whatever response is made of the exception."""
        _abandon(request)


@overload
def intent_required(view: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def intent_required(
    *, minimum_version: int | None = None, operation: str | None = None, protection: Protection | None = None
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def intent_required(
    view: View | None = None,
    *,
    minimum_version: int | None = None,
    operation: str | None = None,
    protection: Protection | None = None,
) -> View:
    """Protect one view, `def` or `async def`, with the middleware or without it.

    minimum_version, operation: see `IntentVerifier.verify`.
    protection: by default the protection of the settings.

    For a class-based view use `@method_decorator(intent_required, name="dispatch")`.
    """
    demands = Demands(minimum_version, operation)

    def protect(view: View) -> View:
        wrapper = (_wrap_async if _is_async(view) else _wrap_sync)(view, demands, protection)
        # Django reads the first two attributes. The transaction begins inside the wrapper, see _wrap_in_transaction.
        vars(wrapper).update({"csrf_exempt": True, "_non_atomic_requests": set(connections), _VIEW_RULE: "required"})
        return wrapper

    return protect if view is None else protect(view)


def intent_exempt(view: View) -> View:
    """Exempt a view, `def` or `async def`, from the middleware."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return view(request, *args, **kwargs)

    setattr(wrapper, _VIEW_RULE, "exempt")
    return markcoroutinefunction(wrapper) if _is_async(view) else wrapper


def _is_async(view: View) -> bool:
    """Return whether a view returns a coroutine, as the `dispatch` of a class with async methods does."""
    instance = getattr(getattr(view, "func", None), "__self__", None)  # behind the partial of `method_decorator`
    is_method_async = getattr(instance, "view_is_async", False) and getattr(view, "__name__", "") == "dispatch"
    return is_method_async or iscoroutinefunction(view)


def _wrap_sync(view: View, demands: Demands, own_protection: Protection | None) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        protection = own_protection or _load_protection()
        refusal, is_outermost = _find_refusal(request, protection, demands)
        if refusal is not None:
            return refusal
        if not is_outermost:
            return _wrap_in_transaction(view)(request, *args, **kwargs)
        try:
            response = _render(_wrap_in_transaction(view)(request, *args, **kwargs))
        except BaseException:  # the view failed: a retry may run
            _abandon(request)
            raise
        _finish(getattr(request, _ADMISSION), response, protection.max_kept)
        return response

    return wrapper


def _wrap_async(view: View, demands: Demands, own_protection: Protection | None) -> View:
    @wraps(view)
    async def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        protection = own_protection or _load_protection()
        try:
            refusal, is_outermost = await sync_to_async(_find_refusal)(request, protection, demands)
        except asyncio.CancelledError:  # the client is gone, but the thread goes on; this waits for it
            await _settle(_abandon, request)
            raise
        if refusal is not None:
            return refusal
        if not is_outermost:
            return await _wrap_in_transaction(view)(request, *args, **kwargs)
        try:
            response = _render(await _wrap_in_transaction(view)(request, *args, **kwargs))
        except BaseException:  # the view failed: a retry may run
            await _settle(_abandon, request)
            raise
        await _settle(_finish, getattr(request, _ADMISSION), response, protection.max_kept)
        return response

    return wrapper


async def _settle(step: Callable[..., None], *arguments: Any) -> None:
    """Run a step in the thread of the request, to its end even if the request is cancelled again and again.

    The end is waited for, because Django ends the thread with the request.
    """
    settling = asyncio.create_task(sync_to_async(step)(*arguments))
    cancellation = await _wait_to_end(settling)
    settling.result()
    if cancellation is not None:
        raise cancellation


async def _wait_to_end(
    task: asyncio.Task[Any], may_be_cancelled: Callable[[], bool] = lambda: False
) -> asyncio.CancelledError | None:
    """Wait until `task` has ended, even if the task that waits is cancelled again and again.

    Return the last cancellation of the task that waits; None if it was not cancelled.

    may_be_cancelled: returns whether to pass a cancellation on to `task`. It is asked until it returns True.
    """
    cancellation, is_passed_on = None, True
    while not task.done():
        try:
            await asyncio.wait({task}, timeout=None if is_passed_on else _PAUSE)
        except asyncio.CancelledError as cancelled:
            cancellation, is_passed_on = cancelled, False
        if not is_passed_on and may_be_cancelled():
            is_passed_on = task.cancel()
    return cancellation


def _take_over(context: Context) -> None:
    """Set the variables that a task has set, such as the language, which a stream needs after the task has ended."""
    for variable, value in context.items():
        variable.set(value)


def _wrap_in_transaction(view: View) -> View:
    """Return the view as Django runs it: in a transaction per database with ATOMIC_REQUESTS."""
    atomic: View = BaseHandler().make_view_atomic(view)
    return atomic


def _render(response: Any) -> Any:
    """Render a TemplateResponse at once, so that a failure of the template counts as a failure of the view."""
    return response if getattr(response, "is_rendered", True) else response.render()


def _load_protection() -> Protection:
    setting = getattr(settings, "AFFIDAVIT_PROTECTION", None)
    protection = import_string(setting) if isinstance(setting, str) else setting
    if not isinstance(protection, Protection):
        raise ImproperlyConfigured("AFFIDAVIT_PROTECTION has to be an affidavit.Protection, or the dotted path of one")
    return protection


def _find_refusal(request: HttpRequest, protection: Protection, demands: Demands) -> tuple[HttpResponse | None, bool]:
    """Return the response to send in place of the view's; if the view may run, set `request.intent` and return None.

    The second item says whether the caller has to settle the call: False if this protection has verified the same
    request before, in the middleware or in a decorator around this one.
    """
    if not (isinstance(request, HttpRequest) or hasattr(request, _ADMISSION)):
        raise ImproperlyConfigured(
            f"intent_required got a {type(request).__name__} in place of Django's HttpRequest. Put it around what "
            "Django calls: above @api_view of Django REST framework, or on a class by "
            "@method_decorator(intent_required, name='dispatch')"
        )
    body = _read_body(request, protection.find_max_body(request.method or "", request.path))
    if isinstance(body, StoredResponse):
        return _build_response(body), True
    call = _build_call(request, body)
    # The whole call is compared: the app may make another call with a copy of this request and its attributes.
    verified_call = (protection, replace(call, request=None, route=find_no_route))
    admission = getattr(request, _ADMISSION, None)
    if admission is not None and getattr(request, _VERIFIED_CALL) == verified_call:
        refusal = admission.refusal(demands)
        return None if refusal is None else _build_response(refusal), False
    result = protection.admit(call, demands)
    if isinstance(result, StoredResponse):
        return _build_response(result), True
    request.intent = result.intent  # type: ignore[attr-defined]  # what views read
    setattr(request, _ADMISSION, result)
    setattr(request, _VERIFIED_CALL, verified_call)
    if (request.encoding or settings.DEFAULT_CHARSET).lower() != "utf-8":
        request.encoding = "utf-8"  # texts of GET and POST are those that were verified, whatever charset was named
    return None, True


def _build_call(request: HttpRequest, body: bytes) -> Call:
    meta = request.META
    return Call(
        header=meta.get("HTTP_X_SERVICE_INTENT"),
        method=request.method or "",
        path=request.path,
        query=meta.get("QUERY_STRING", ""),
        body=body,
        content_type=meta.get("CONTENT_TYPE"),
        raw_path=_read_raw_path(request),
        request=request,
        route=partial(_find_route, request),
        content_encoding=meta.get("HTTP_CONTENT_ENCODING"),
    )


def _read_body(request: HttpRequest, limit: int) -> bytes | StoredResponse:
    """Return the whole body, which the view can still read; or the refusal of a body that is too large or incomplete.

    Django's own limit holds for uploads, too, because they are read whole.
    """
    length = request.META.get("CONTENT_LENGTH") or ""
    expected_size = int(length) if length.isdecimal() else 0
    if expected_size > limit:
        return answer_body_too_large(limit)
    was_read_before = hasattr(request, "_body")  # by other middleware, which may have changed it
    try:
        body: bytes = request.body
    except RequestDataTooBig:
        own_limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        return answer_body_too_large(own_limit, "DATA_UPLOAD_MAX_MEMORY_SIZE of Django")
    except UnreadablePostError:  # the client is gone
        return answer_body_incomplete()
    if len(body) > limit:
        return answer_body_too_large(limit)
    return body if was_read_before or len(body) >= expected_size else answer_body_incomplete()


def _read_raw_path(request: HttpRequest) -> str | None:
    """Return the path before decoding, if the server provides it."""
    scope = getattr(request, "scope", None)
    if scope is not None:
        raw = scope.get("raw_path")
        return None if raw is None else str(raw, "latin-1")
    target = request.META.get("REQUEST_URI") or request.META.get("RAW_URI")
    return target.partition("?")[0] if target else None


def _find_route(request: HttpRequest) -> str | None:
    """Return the path template of Django's route, behind the mount prefix of the site.

    Return None without a route, if the route is no template, or if the prefix may have a value.
    """
    path = parse_route_path(request.resolver_match.route) if request.resolver_match else None
    prefix = find_prefix(request)
    return None if path is None or prefix is None else f"{prefix}/{path.removeprefix('/')}"


def _finish(admission: Admission, response: Any, limit: int) -> None:
    # Code around the view, as of Django Ninja, makes a response of anything else, also of None. Where none does, Django
    # answers 500, but the view has run all the same.
    if not isinstance(response, HttpResponseBase):
        status = response[0] if isinstance(response, tuple) and response else getattr(response, "status_code", 200)
        admission.finish(status if isinstance(status, int) else 200)
        return
    if admission.is_settled:
        return
    body = None if response.streaming else cast(HttpResponse, response).content
    admission.finish(response.status_code, response.items(), body if body is None or len(body) <= limit else None)


def _abandon(request: HttpRequest) -> None:
    admission = getattr(request, _ADMISSION, None)
    if admission is not None:
        admission.abandon()


def _build_response(answer: StoredResponse) -> HttpResponse:
    return HttpResponse(answer.body, status=answer.status, headers=dict(answer.headers))
