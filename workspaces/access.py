"""Decide who may open a page: a signed-in member, an operator, or a machine with a secret key of the workspace."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.text import get_text_list

from wire.errors import DomainError, NotFound
from workspaces.authentication import HEADER, authenticate_key, require_scope
from workspaces.models import Environment, Membership, Workspace

OWN_WORKSPACE = "-"  # in place of a slug in an address: the workspace of the key


class RoleMissing(DomainError):
    """The signed-in member may read this workspace, but their role does not allow the request."""

    code = "role-missing"

    def __init__(self, role: str, workspace: Workspace) -> None:
        article = "a" if role == Membership.VIEWER else "an"
        has_admin = workspace.memberships.filter(role=Membership.ADMIN).exists()
        giver = "An admin of this workspace" if has_admin else "A superuser of this hub"
        super().__init__(f"This needs the role of {article} {role}. {giver} can give it to you.")


def list_workspaces(user: User | AnonymousUser) -> QuerySet[Workspace]:
    """Return the workspaces that this user may open; operators (superusers) may open all."""
    if not user.is_authenticated:
        return Workspace.objects.none()
    present = Workspace.objects.filter(removed_at=None)
    return present if user.is_superuser else present.filter(memberships__user=user)


def has_role(user: User | AnonymousUser, workspace: Workspace, role: str) -> bool:
    """Return whether the user has this role in the workspace, or a higher one; operators may do everything."""
    if not user.is_authenticated:
        return False
    if user.is_superuser:
        return True
    sufficient_roles = Membership.ROLES[Membership.ROLES.index(role) :]
    return workspace.memberships.filter(user=user, role__in=sufficient_roles).exists()


def require_readable_environment(request: HttpRequest, slug: str, name: str) -> Environment:
    """Return an environment that the session, or the key if one was sent, may read. `-` is the key's own workspace.

    Raises Http404 for a workspace that does not exist, and equally for one that the caller may not see, so that nobody
    can tell which. Raises NotFound if the session's workspace has no such environment. Raises Problem 401 or 403, or
    RateLimited, for the key that was sent; in its own workspace also ScopeMissing and UnknownEnvironment, as machine
    calls do.
    """
    if HEADER not in request.headers:
        return _require_environment(list_workspaces(request.user), slug, name)
    key = authenticate_key(request)
    if slug not in (OWN_WORKSPACE, key.workspace.slug) or key.workspace.removed_at:
        raise Http404
    require_scope(key, "report")
    environment = key.require_environment(name)
    environment.readable_names = key.environment_names
    return environment


def require_member_environment(
    request: HttpRequest, slug: str, name: str, *, role: str = Membership.EDITOR
) -> Environment:
    """Return an environment in which the signed-in user has this role. A key does not count: it may only read pages.

    Raises Http404 if the workspace is not the user's, NotFound if it has no such environment, and RoleMissing if the
    member's role is lower.
    """
    environment = _require_environment(list_workspaces(request.user), slug, name)
    if not has_role(request.user, environment.workspace, role):
        raise RoleMissing(role, environment.workspace)
    return environment


def _require_environment(workspaces: QuerySet[Workspace], slug: str, name: str) -> Environment:
    environments = Environment.objects.filter(workspace__in=workspaces, workspace__slug=slug, name=name)
    environment = environments.select_related("workspace").first()
    if environment is None:
        workspace = workspaces.filter(slug=slug).first()
        raise describe_absence(workspace) if workspace else Http404
    return environment


def describe_absence(workspace: Workspace) -> NotFound:
    names = get_text_list(list(workspace.environments.order_by("id").values_list("name", flat=True)), "and")
    return NotFound(f"{workspace.name} has no environment of this name. It has {names}.")
