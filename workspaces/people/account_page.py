"""The account of a person."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from workspaces.models import Membership, Workspace
from workspaces.people.invitations.invite import list_invitations_of
from workspaces.people.ways_in import describe_ways_in


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
