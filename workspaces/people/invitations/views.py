"""The pages of an invitation: for people with an account, and for those without."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from workspaces.models import Invitation
from workspaces.people.attempt_counts import count_dead_link
from workspaces.people.invitations.accept import accept_invitation, create_invited_user, has_account, is_invited
from workspaces.people.invitations.invite import find_invitation, list_invitations_of
from workspaces.people.invitations.new_account_form import NewAccountForm
from workspaces.people.ways_in import describe_ways_in


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
