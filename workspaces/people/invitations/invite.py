"""Invite somebody to a workspace by a link, which works once, within seven days."""

from __future__ import annotations

import logging
import secrets
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

from workspaces.audit.record import record_audit
from workspaces.link_tokens import hash_token, make_token
from workspaces.models import Invitation, Membership, Workspace
from workspaces.people.errors import MembershipFault

VALID_FOR = timedelta(days=7)
log = logging.getLogger("affidavit.people")


class WrongAddress(MembershipFault):
    """Somebody else was invited."""


@transaction.atomic
def invite(workspace: Workspace, email: str, role: str, *, actor: str, now: datetime) -> tuple[Invitation, str]:
    """Return a new invitation and the secret part of its link.

    Only a digest of the secret is stored. The invitation replaces an earlier one to the same address.
    Raises MembershipFault if the address is a member's.
    """
    email = email.strip().lower()
    # Without this lock, two requests at once would both find no earlier invitation, and both links would work.
    workspace.lock()
    if workspace.memberships.filter(user__in=_list_users(email)).exists():
        raise MembershipFault(f"{email} is a member already. Change the role instead.")
    workspace.invitations.filter(email=email, accepted_at=None).delete()
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
        send_mail(f"Join {invitation.workspace.name} on Affidavit", text, None, [invitation.email])
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
    addresses = EmailAddress.objects.filter(user=user, verified=True).values("email")
    return _list_open(now).filter(email__in=addresses) if is_vouched_for else Invitation.objects.none()


def has_open_invitation(email: str, *, now: datetime) -> bool:
    return _list_open(now).filter(email=email.lower()).exists()


def find_invitation(token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link that still works."""
    return _list_open(now).filter(digest=hash_token(token)).first()


def has_account(invitation: Invitation) -> bool:
    return _list_users(invitation.email).exists()


def is_invited(user: User, invitation: Invitation) -> bool:
    """Return whether this user may accept the invitation: it is to their address, or they have no address yet.

    The invitation's address must not be the verified address of another user. A user who has no address gets that of
    the invitation, and whoever reads its mail can set a new password: so an operator must have made the invitation.
    """
    if _list_users(invitation.email).exclude(pk=user.pk).exists():
        return False
    addresses = {address.lower() for address in EmailAddress.objects.filter(user=user).values_list("email", flat=True)}
    addresses |= {user.email.lower()} - {""}
    return invitation.email in addresses or (not addresses and _is_operator(invitation.invited_by))


@transaction.atomic
def accept_invitation(invitation: Invitation, user: User, *, now: datetime) -> Membership:
    """Make the user a member; an existing member keeps their role. Raises WrongAddress, MembershipFault."""
    open_invitation = _list_open(now).select_for_update(of=("self",)).filter(pk=invitation.pk).first()
    if open_invitation is None:
        raise MembershipFault("This invitation no longer works. Ask for a new one.")
    if not is_invited(user, open_invitation):
        raise WrongAddress(f"The invitation is for {invitation.email}. Sign in as that person.")
    verify_address(user, open_invitation.email)
    membership, is_new = Membership.objects.get_or_create(
        workspace_id=open_invitation.workspace_id, user=user, defaults={"role": open_invitation.role, "created_at": now}
    )
    open_invitation.accepted_at = now
    open_invitation.save(update_fields=["accepted_at"])
    if is_new:
        facts = {"member": user.get_username(), "role": membership.role, "invited by": open_invitation.invited_by}
        record_audit(membership.workspace_id, "member joined", facts, actor=user.get_username(), now=now)
    return membership


@transaction.atomic
def create_invited_user(email: str, *, now: datetime, username: str = "", password: str | None = None) -> User:
    """Make an account with this address, which is verified. It has no password if the provider signs people in."""
    user = User.objects.create_user(username or _choose_username(email), email.lower(), password, date_joined=now)
    verify_address(user, email.lower())
    return user


def verify_address(user: User, email: str) -> None:
    is_first = not EmailAddress.objects.filter(user=user, primary=True).exists()
    EmailAddress.objects.update_or_create(
        user=user, email=email, defaults={"verified": True}, create_defaults={"verified": True, "primary": is_first}
    )
    if not user.email:
        user.email = email
        user.save(update_fields=["email"])


def add_vouched_address(user: User, email: str) -> None:
    """Add an address for which an OpenID Connect provider vouches, unless another account has it."""
    if not _list_users(email.lower()).exists():
        verify_address(user, email.lower())


def _choose_username(email: str) -> str:
    """Return the address; if it is too long or is a user name already, its beginning with a random end."""
    if len(email) <= 150 and not User.objects.filter(username__iexact=email).exists():
        return email.lower()
    return f"{email[:100].lower()}-{secrets.token_hex(4)}"


def _list_users(email: str) -> QuerySet[User]:
    user_ids = EmailAddress.objects.filter(email=email, verified=True).values("user")
    return User.objects.filter(pk__in=user_ids)


def _is_operator(username: str) -> bool:
    return User.objects.filter(username=username, is_superuser=True, is_active=True).exists()


def _list_open(now: datetime) -> QuerySet[Invitation]:
    invitations = Invitation.objects.filter(accepted_at=None, expires_at__gt=now, workspace__removed_at=None)
    return invitations.select_related("workspace")
