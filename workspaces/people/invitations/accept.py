"""Accept an invitation: who may, and what becomes of the person's account and membership."""

from __future__ import annotations

import secrets
from datetime import datetime

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction

from workspaces.audit.record import record_audit
from workspaces.models import Invitation, Membership
from workspaces.people.address_spellings import normalize_address
from workspaces.people.errors import MembershipFault
from workspaces.people.invitations.invite import list_open_of_all_workspaces
from workspaces.people.verified_addresses import list_users_of, verify_address


class WrongAddress(MembershipFault):
    """Somebody else was invited."""


def has_account(invitation: Invitation) -> bool:
    return list_users_of(invitation.email).exists()


def is_invited(user: User, invitation: Invitation) -> bool:
    """Return whether this user may accept the invitation: it is to their address, or they have no address yet.

    The invitation's address must not be the verified address of another user. A user who has no address gets that of
    the invitation, and whoever reads its mail can set a new password: so an operator must have made the invitation.
    """
    if list_users_of(invitation.email).exclude(pk=user.pk).exists():
        return False
    own_addresses = [*EmailAddress.objects.filter(user=user).values_list("email", flat=True), user.email]
    addresses = {normalize_address(address) for address in own_addresses if address}
    return normalize_address(invitation.email) in addresses or (not addresses and _is_operator(invitation.invited_by))


@transaction.atomic
def accept_invitation(invitation: Invitation, user: User, *, now: datetime) -> Membership:
    """Make the user a member; an existing member keeps their role. Raises WrongAddress, MembershipFault."""
    open_invitation = list_open_of_all_workspaces(now).select_for_update(of=("self",)).filter(pk=invitation.pk).first()
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
    email = normalize_address(email)
    user = User.objects.create_user(username or _choose_username(email), email, password, date_joined=now)
    verify_address(user, email)
    return user


def _choose_username(email: str) -> str:
    """Return the address; if it is too long or is a user name already, its beginning with a random end."""
    if len(email) <= 150 and not User.objects.filter(username__iexact=email).exists():
        return email
    return f"{email[:100]}-{secrets.token_hex(4)}"


def _is_operator(username: str) -> bool:
    return User.objects.filter(username=username, is_superuser=True, is_active=True).exists()
