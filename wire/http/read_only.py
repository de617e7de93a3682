"""What is only read: any other method is told so, whoever asks and whatever cookies they have (contract 1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from wire.http.problems import Problem


def read_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Exempt, as nothing is changed: else a wrong method would be told as a lack of cookies."""

    @csrf_exempt
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            raise Problem("method-not-allowed", "This is read with GET.", headers={"Allow": "GET, HEAD"})
        return view(request, *args, **kwargs)

    return checked
