"""The page that lists the second factors of a person, and the way to new recovery codes."""

from __future__ import annotations

from functools import wraps
from typing import Any

from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from workspaces.people.second_factors.forms import has_unreadable_factor
from workspaces.people.ways_in import View, describe_ways_in


class SecondFactorView(IndexView):  # type: ignore[misc]  # allauth has no types
    """The second factors of this person, and what asks for them."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **describe_ways_in()}


second_factors = SecondFactorView.as_view()


def with_readable_codes(view: View) -> View:
    """Lead to new recovery codes if the hub cannot decrypt those of the person."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if user.is_authenticated and has_unreadable_factor(user, Authenticator.Type.RECOVERY_CODES):
            return redirect("mfa_generate_recovery_codes")
        return view(request, *args, **kwargs)

    return wrapper
