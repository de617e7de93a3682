"""Invite somebody to a workspace by a link, which works once, within seven days."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string

from wire.mail.subjects import build_subject
from workspaces.audit.record import record_audit
from workspaces.link_tokens import hash_token, make_token
from workspaces.models import Invitation, Workspace
from workspaces.people.address_spellings import list_spellings, normalize_address
from workspaces.people.errors import MembershipFault
from workspaces.people.verified_addresses import list_users_of

VALID_FOR = timedelta(days=7)
log = logging.getLogger("affidavit.people")


@transaction.atomic
def invite(workspace: Workspace, email: str, role: str, *, actor: str, now: datetime) -> tuple[Invitation, str]:
    """Return a new invitation and the secret part of its link.

    Only a digest of the secret is stored. The invitation replaces an earlier one to the same address.
    Raises MembershipFault if the address is a member's.
    """
    email = normalize_address(email)
    # Without this lock, two requests at once would both find no earlier invitation, and both links would work.
    workspace.lock()
    if workspace.memberships.filter(user__in=list_users_of(email)).exists():
        raise MembershipFault(f"{email} is a member already. Change the role instead.")
    workspace.invitations.filter(email__in=list_spellings(email), accepted_at=None).delete()
    token = make_token()
    invitation = Invitation.objects.create(
        workspace=workspace,
        email=email,
        role=role,
        digest=hash_token(token),
        invited_by=actor,
        created_at=now,
        expires_at=now + VALID_FOR,
    )
    record_audit(workspace.pk, "member invited", {"email": email, "role": role}, actor=actor, now=now)
    return invitation, token


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Send the link; return whether the mail server took it. Without a mail server (EMAIL_URL), nothing is sent."""
    if not settings.EMAIL_URL:
        return False
    text = render_to_string("account/email/invitation.txt", {"invitation": invitation, "link": link})
    try:
        send_mail(build_subject(f"Join {invitation.workspace.name} on Affidavit"), text, None, [invitation.email])
    except (OSError, SMTPException) as error:
        log.error("mail could not be sent: %s", type(error).__name__)
        return False
    return True


def revoke_invitation(invitation: Invitation, *, actor: str, now: datetime) -> None:
    row_count, _ = Invitation.objects.filter(pk=invitation.pk, accepted_at=None).delete()
    if row_count:
        facts = {"email": invitation.email, "role": invitation.role}
        record_audit(invitation.workspace_id, "invitation revoked", facts, actor=actor, now=now)


def list_open_invitations(workspace: Workspace, *, now: datetime) -> QuerySet[Invitation]:
    return workspace.invitations.filter(accepted_at=None, expires_at__gt=now)


def list_invitations_of(user: User, *, now: datetime) -> QuerySet[Invitation]:
    """Return the open invitations to the addresses of this user for which an OpenID Connect provider vouches.

    Whoever used the link of an invitation has not proved their address by it, because the admin who made the link sees
    it too. So invitations to other workspaces are not listed for them.
    """
    is_vouched_for = SocialAccount.objects.filter(user=user).exists()
    if not is_vouched_for:
        return Invitation.objects.none()
    addresses = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    spellings = {spelling for address in addresses for spelling in list_spellings(address)}
    return list_open_of_all_workspaces(now).filter(email__in=spellings)


def has_open_invitation(email: str, *, now: datetime) -> bool:
    return list_open_of_all_workspaces(now).filter(email__in=list_spellings(email)).exists()


def find_invitation(token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link that still works."""
    return list_open_of_all_workspaces(now).filter(digest=hash_token(token)).first()


def list_open_of_all_workspaces(now: datetime) -> QuerySet[Invitation]:
    invitations = Invitation.objects.filter(accepted_at=None, expires_at__gt=now, workspace__removed_at=None)
    return invitations.select_related("workspace")
