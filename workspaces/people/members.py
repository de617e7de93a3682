"""Members of a workspace: who they are, their roles, and their removal."""

from __future__ import annotations

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user_model
from django.db import transaction

from workspaces.audit.record import record_audit
from workspaces.models import Membership, Workspace
from workspaces.people.errors import MembershipFault


class LastAdmin(MembershipFault):
    """The workspace would have no admin."""

    detail = "A workspace needs an admin. Make somebody else an admin first."


def list_members(workspace: Workspace) -> list[tuple[Membership, bool]]:
    """Return the memberships and whether each member has a second factor, in the order in which they joined."""
    memberships = list(workspace.memberships.select_related("user").order_by("created_at", "id"))
    factors = Authenticator.objects.filter(user__in=[membership.user_id for membership in memberships])
    protected_user_ids = set(factors.exclude(type=Authenticator.Type.RECOVERY_CODES).values_list("user_id", flat=True))
    return [(membership, membership.user_id in protected_user_ids) for membership in memberships]


def list_operators() -> list[str]:
    """Return the user names of those who may open every workspace."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True)
    return [user.get_username() for user in users.order_by("username")]


@transaction.atomic
def change_role(
    workspace: Workspace, user_id: int, role: str, *, actor: str, by_operator: bool, now: datetime
) -> Membership | None:
    """Give the member this role; None if there is no such member any more.

    Raises LastAdmin if no admin would be left, unless an operator does it.
    """
    membership = _lock_membership(workspace, user_id)
    if membership is None or membership.role == role:
        return membership
    if role != Membership.ADMIN and not by_operator:
        _require_another_admin(workspace, membership)
    facts = {"member": membership.user.get_username(), "from": membership.role, "to": role}
    membership.role = role
    membership.save(update_fields=["role"])
    record_audit(workspace.pk, "role changed", facts, actor=actor, now=now)
    return membership


@transaction.atomic
def remove_member(workspace: Workspace, user_id: int, *, actor: str, by_operator: bool, now: datetime) -> None:
    """End the membership; the account stays. Raises LastAdmin as `change_role` does."""
    membership = _lock_membership(workspace, user_id)
    if membership is None:
        return
    if not by_operator:
        _require_another_admin(workspace, membership)
    facts = {"member": membership.user.get_username(), "role": membership.role}
    membership.delete()
    record_audit(workspace.pk, "member removed", facts, actor=actor, now=now)


def _lock_membership(workspace: Workspace, user_id: int) -> Membership | None:
    """Return the membership, and lock all memberships of the workspace until the transaction ends.

    They are locked because two admins may act at the same time.
    """
    memberships = workspace.memberships.select_related("user").order_by("id").select_for_update(of=("self",))
    return next((membership for membership in list(memberships) if membership.user_id == user_id), None)


def _require_another_admin(workspace: Workspace, membership: Membership) -> None:
    admins = workspace.memberships.filter(role=Membership.ADMIN)
    if membership.role == Membership.ADMIN and not admins.exclude(pk=membership.pk).exists():
        raise LastAdmin
