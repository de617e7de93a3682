"""Read-only addresses: methods other than GET and HEAD are refused, with or without cookies (contract §1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from wire.http.problems import Problem


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Refuse all methods but GET and HEAD with 405. No CSRF check comes first: it would answer 403."""

    @csrf_exempt
    @wraps(view)
    def refuse_other_methods(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            raise Problem("method-not-allowed", "Read this address with GET.", headers={"Allow": "GET, HEAD"})
        return view(request, *args, **kwargs)

    return refuse_other_methods
