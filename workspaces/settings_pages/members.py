"""The page of members: their roles, invitations by link, and removal in two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership, Workspace
from workspaces.pages.form_answers import member_form, render_refused_form, return_to_page
from workspaces.pages.page import Page
from workspaces.pages.shown_once import keep_for_next_page, take_once
from workspaces.people.errors import MembershipFault
from workspaces.people.invitations.invitation_form import InvitationForm
from workspaces.people.invitations.invite import invite, list_open_invitations, revoke_invitation, send_invitation
from workspaces.people.members import LastAdmin, change_role, list_members, list_operators, remove_member
from workspaces.settings_pages.role_descriptions import ROLE_DESCRIPTIONS

NAME = "members"
NEW_INVITATION = "new invitation"
MEMBER_COLUMNS = ("member", "email", "role", "since", "secondFactor", "lastSignedInAt")
INVITATION_COLUMNS = ("email", "role", "invitedBy", "invitedAt", "expiresAt")


def show_members(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the members and open invitations of the workspace, and the form that invites."""
    return _build_page(request, environment, InvitationForm())


@member_form(Membership.ADMIN)
@sensitive_variables("token", "link")
def post_invitation(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Invite somebody and go to the page, which shows the link once; with a fault, show the form again."""
    form, now = InvitationForm(request.POST), timezone.now()
    if form.is_valid():
        try:
            actor = request.user.get_username()
            invitation, token = invite(environment.workspace, **form.cleaned_data, actor=actor, now=now)
        except MembershipFault as error:
            form.add_error("email", error.detail)
        else:
            link = request.build_absolute_uri(reverse("invitation", args=[token]))
            is_sent = send_invitation(invitation, link)
            mail_state = "sent" if is_sent else "refused" if settings.EMAIL_URL else ""
            facts = {"email": invitation.email, "link": link, "mail_state": mail_state}
            keep_for_next_page(request, NEW_INVITATION, {**facts, "workspace": environment.workspace_id})
            return return_to_page(request, NAME, environment, {})
    page = _build_page(request, environment, form)
    return render_refused_form(request, page, environment, NAME)


@member_form(Membership.ADMIN)
def post_revocation(request: HttpRequest, environment: Environment, pk: int) -> HttpResponseRedirect:
    """Revoke an invitation, so that its link no longer works; a second time changes nothing."""
    now = timezone.now()
    invitation = list_open_invitations(environment.workspace, now=now).filter(pk=pk).first()
    if invitation:
        revoke_invitation(invitation, actor=request.user.get_username(), now=now)
    return return_to_page(request, NAME, environment, {})


@member_form(Membership.ADMIN)
def post_role(request: HttpRequest, environment: Environment, user_id: int) -> HttpResponseRedirect:
    """Give a member another role."""
    get_object_or_404(environment.workspace.memberships, user_id=user_id)
    role = request.POST.get("role", "")
    if role not in ROLE_DESCRIPTIONS:
        return return_to_page(request, NAME, environment, {"fault": "role"})
    try:
        change_role(environment.workspace, user_id, role, **_name_actor(request))
    except LastAdmin:
        return return_to_page(request, NAME, environment, {"fault": "last-admin"})
    if not has_role(request.user, environment.workspace, Membership.ADMIN):  # they may not see the page any more
        return return_to_page(request, "overview", environment, {})
    return return_to_page(request, NAME, environment, {})


@member_form(Membership.ADMIN)
def post_removal(request: HttpRequest, environment: Environment, user_id: int) -> HttpResponseRedirect:
    """Remove a member; a second time changes nothing."""
    try:
        remove_member(environment.workspace, user_id, **_name_actor(request))
    except LastAdmin:
        return return_to_page(request, NAME, environment, {"fault": "last-admin"})
    if request.user.pk == user_id and not request.user.is_superuser:  # they may not see the page any more
        return HttpResponseRedirect(reverse("home"), status=303)
    return return_to_page(request, NAME, environment, {})


FAULTS = {"last-admin": LastAdmin.detail, "role": "Choose one of the roles."}


def _build_page(request: HttpRequest, environment: Environment, form: InvitationForm) -> Page:
    workspace = environment.workspace

    def build_context() -> Mapping[str, Any]:
        members = list_members(workspace)
        chosen_role = form["role"].value() or Membership.VIEWER
        removing = request.GET.get("remove", "")
        return {
            "new_invitations": take_once(request, NEW_INVITATION, workspace=workspace.pk),
            "members": members,
            "to_remove": next((member for member, _ in members if str(member.user_id) == removing), None),
            "invitations": list_open_invitations(workspace, now=timezone.now()),
            "roles": [(role, words, role == chosen_role) for role, words in ROLE_DESCRIPTIONS.items()],
            "operators": list_operators(),
            "member_fault": FAULTS.get(request.GET.get("fault", ""), ""),
            "form": form,
        }

    tables = [
        Table("members", MEMBER_COLUMNS, lambda: _export_members(workspace)),
        Table("invitations", INVITATION_COLUMNS, lambda: _export_invitations(workspace)),
    ]
    return Page("workspaces/members.html", build_context, tables, has_period=False, holds_secrets=True)


def _export_members(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for member, has_second_factor in list_members(workspace):
        user = member.user
        factor = "yes" if has_second_factor else "no"
        yield user.get_username(), user.email, member.role, member.created_at, factor, user.last_login


def _export_invitations(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for invitation in list_open_invitations(workspace, now=timezone.now()):
        yield invitation.email, invitation.role, invitation.invited_by, invitation.created_at, invitation.expires_at


def _name_actor(request: HttpRequest) -> dict[str, Any]:
    """Return the arguments that `change_role` and `remove_member` share: who acts, and when."""
    actor, by_operator = request.user.get_username(), request.user.is_superuser
    return {"actor": actor, "by_operator": by_operator, "now": timezone.now()}
