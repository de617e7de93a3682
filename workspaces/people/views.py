"""Signing in and out, the account of a person, and invitations."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.utils import perform_login
from allauth.account.views import LoginView
from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from wire.http.problems import Problem
from workspaces.models import Invitation, Membership, Workspace
from workspaces.people.account_audit import record_account_action
from workspaces.people.adapters import AccountAdapter
from workspaces.people.factor_forms import has_unreadable_factor
from workspaces.people.forms import NewAccountForm
from workspaces.people.invitations import (
    accept_invitation,
    create_invited_user,
    find_invitation,
    has_account,
    is_invited,
    list_invitations_of,
)
from workspaces.people.sign_in_links import find_link_user, use_link
from workspaces.people.single_sign_on.sign_in import complete_sign_in, redirect_to_provider
from workspaces.people.throttle import count_dead_link

View = Callable[..., HttpResponseBase]


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
            "target": find_target(self.request),
            "is_unsent": "unsent" in self.request.GET,
            **describe_ways_in(),
        }


class SecondFactorView(IndexView):  # type: ignore[misc]
    """The second factors of this person, and what asks for them."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **describe_ways_in()}


sign_in = SignInView.as_view()
second_factors = SecondFactorView.as_view()


def describe_ways_in() -> dict[str, Any]:
    """Return the values with which a template offers the ways to sign in."""
    return {"oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "", "has_passwords": not settings.OIDC_ONLY}


def with_passwords(view: View) -> View:
    """Answer 404 from a page about passwords if nobody can sign in with a password."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.OIDC_ONLY:
            raise Http404
        return view(request, *args, **kwargs)

    return wrapper


def with_readable_codes(view: View) -> View:
    """Lead to new recovery codes if the hub cannot decrypt those of the person."""

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if user.is_authenticated and has_unreadable_factor(user, Authenticator.Type.RECOVERY_CODES):
            return redirect("mfa_generate_recovery_codes")
        return view(request, *args, **kwargs)

    return wrapper


@never_cache
@sensitive_variables("token")
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button on GET, sign in on POST: software that previews links must not use them up."""
    now = timezone.now()
    if request.method != "POST":
        link_user = find_link_user(token, now=now)
        if link_user is None:
            count_dead_link(request)
        return render(request, "workspaces/sign_in_link.html", {"link_user": link_user, **describe_ways_in()})
    user = use_link(token, now=now)
    if user is None:
        count_dead_link(request)
        return render(request, "workspaces/sign_in_link.html", {"link_user": None, **describe_ways_in()}, status=410)
    # Whoever runs the hub made the link, so no second factor is asked for.
    AccountAdapter(request).login(request, user)
    return redirect("home")


def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out and go to `next`, or to the sign-in page."""
    if request.method != "POST":
        raise Problem("method-not-allowed", "Sign out with the button of a page.", headers={"Allow": "POST"})
    target = find_target(request)
    if request.user.is_authenticated:
        record_account_action(request.user, "signed out", now=timezone.now())
    logout(request)
    return redirect("account_login") if target == "/" else HttpResponseRedirect(target)


@never_cache
def sign_in_by_oidc(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to the provider. A link leads here: `form-action` in the security policy would stop a form's redirect."""
    if not settings.OIDC_ISSUER:
        raise Http404
    return redirect_to_provider(request, target=find_target(request))


@never_cache
def oidc_callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    return complete_sign_in(request)


@never_cache
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show how this person signs in, and the invitations to their address."""
    user = request.user
    assert user.is_authenticated
    factors = Authenticator.objects.filter(user=user)
    context = {
        "factors": factors.exclude(type=Authenticator.Type.RECOVERY_CODES).count(),
        "invitations": list_invitations_of(user, now=timezone.now()),
        "memberships": Membership.objects.filter(user=user, workspace__removed_at=None).select_related("workspace"),
        "other_workspaces": Workspace.objects.filter(removed_at=None).exclude(memberships__user=user),
        "is_done": request.GET.get("done") == "password",
        **describe_ways_in(),
    }
    return render(request, "account/account.html", context)


@never_cache
@sensitive_variables("token")
@sensitive_post_parameters("password")
def invitation(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the invitation. On POST, accept it, after creating the account if the person has none."""
    now = timezone.now()
    open_invitation = find_invitation(token, now=now)
    if open_invitation is None:
        count_dead_link(request)
        return render(request, "account/invitation_gone.html", status=410)
    if request.user.is_authenticated:
        if request.method == "POST":
            return _accept(request, open_invitation)
        context = {"invitation": open_invitation, "is_invited": is_invited(request.user, open_invitation)}
        return render(request, "account/invitation.html", context)
    if has_account(open_invitation) or settings.OIDC_ONLY:
        context = {"invitation": open_invitation, "has_account": has_account(open_invitation), **describe_ways_in()}
        return render(request, "account/invitation_sign_in.html", context)
    form = NewAccountForm(
        request.POST if request.method == "POST" else None,
        email=open_invitation.email,
        initial={"username": open_invitation.email.partition("@")[0]},
    )
    if request.method == "POST" and form.is_valid():
        return _create_account(request, open_invitation, form)
    context = {"invitation": open_invitation, "form": form, **describe_ways_in()}
    return render(request, "account/invitation_new.html", context)


@require_POST
def accept_own_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept an invitation to one's verified address, from the page of the account."""
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("account"))
    return _accept(request, get_object_or_404(list_invitations_of(request.user, now=timezone.now()), pk=pk))


def find_target(request: HttpRequest) -> str:
    """Return where to go next: `next` if it is an address of this hub, else "/"."""
    target = request.POST.get("next") or request.GET.get("next") or "/"
    is_safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if is_safe else "/"


def _accept(request: HttpRequest, invitation: Invitation) -> HttpResponseRedirect:
    assert request.user.is_authenticated
    accept_invitation(invitation, request.user, now=timezone.now())
    return HttpResponseRedirect(_workspace_address(invitation), status=303)


def _create_account(request: HttpRequest, invitation: Invitation, form: NewAccountForm) -> HttpResponseBase:
    now = timezone.now()
    try:
        with transaction.atomic():
            user = create_invited_user(invitation.email, now=now, **form.cleaned_data)
            accept_invitation(invitation, user, now=now)
    except IntegrityError:  # another request created the account at the same moment
        return redirect(request.path)
    response: HttpResponseBase = perform_login(request, user, redirect_url=_workspace_address(invitation))
    return response


def _workspace_address(invitation: Invitation) -> str:
    return reverse("overview", args=[invitation.workspace.slug, "production"])
