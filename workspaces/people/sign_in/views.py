"""Signing in with a password or by a link, and signing out."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView
from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables

from wire.http.problems import Problem
from workspaces.people.account_adapter import AccountAdapter
from workspaces.people.account_audit import record_account_action
from workspaces.people.attempt_counts import count_dead_link
from workspaces.people.next_address import find_next_address
from workspaces.people.sign_in.links import find_link_user, use_link
from workspaces.people.ways_in import describe_ways_in


class SignInView(LoginView):  # type: ignore[misc]  # allauth has no types
    """Sign in with a password, or go to the OpenID Connect provider."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.OIDC_ONLY and request.method != "GET":
            raise Problem("method-not-allowed", f"Sign in with {settings.OIDC_NAME}.", headers={"Allow": "GET"})
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {
            **super().get_context_data(**kwargs),
            "target": find_next_address(self.request),
            "was_form_refused": "unsent" in self.request.GET,
            **describe_ways_in(),
        }


sign_in = SignInView.as_view()


@never_cache
@sensitive_variables("token")
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button on GET, sign in on POST: software that previews links must not use them up."""
    now = timezone.now()
    if request.method != "POST":
        link_user = find_link_user(token, now=now)
        if link_user is None:
            count_dead_link(request)
        return render(request, "account/sign_in_link.html", {"link_user": link_user, **describe_ways_in()})
    user = use_link(token, now=now)
    if user is None:
        count_dead_link(request)
        return render(request, "account/sign_in_link.html", {"link_user": None, **describe_ways_in()}, status=410)
    # Whoever runs the hub made the link, so no second factor is asked for.
    AccountAdapter(request).login(request, user)
    return redirect("home")


def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out and go to `next`, or to the sign-in page."""
    if request.method != "POST":
        raise Problem("method-not-allowed", "Sign out with the button of a page.", headers={"Allow": "POST"})
    target = find_next_address(request)
    if request.user.is_authenticated:
        record_account_action(request.user, "signed out", now=timezone.now())
    logout(request)
    return redirect("account_login") if target == "/" else HttpResponseRedirect(target)
