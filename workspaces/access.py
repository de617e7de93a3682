"""Who may open which page: a signed-in member, an operator, or a machine with that workspace's secret key."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from workspaces.authentication import HEADER, authenticate_key
from workspaces.models import Environment, Workspace


def list_workspaces(user: User | AnonymousUser) -> QuerySet[Workspace]:
    """Return the workspaces that this user may open; operators (superusers) may open all."""
    if not user.is_authenticated:
        return Workspace.objects.none()
    if user.is_superuser:
        return Workspace.objects.all()
    return Workspace.objects.filter(memberships__user=user)


def require_readable_environment(request: HttpRequest, slug: str, name: str) -> Environment:
    """Return an environment that the session, or the key if one was sent, may read.

    Raises Http404, the same for what does not exist and for what is not yours; Problem 401 or 403 for a bad key.
    """
    return _require_environment(_list_readable_workspaces(request), slug, name)


def require_member_environment(request: HttpRequest, slug: str, name: str) -> Environment:
    """Return an environment that the signed-in user may change: a key reads pages, but never acts on them.

    Raises Http404, the same for what does not exist and for what is not yours.
    """
    return _require_environment(list_workspaces(request.user), slug, name)


def _list_readable_workspaces(request: HttpRequest) -> QuerySet[Workspace]:
    if HEADER not in request.headers:
        return list_workspaces(request.user)
    key = authenticate_key(request.headers[HEADER])
    if "report" not in key.scopes:
        return Workspace.objects.none()
    return Workspace.objects.filter(pk=key.workspace_id)


def _require_environment(workspaces: QuerySet[Workspace], slug: str, name: str) -> Environment:
    environments = Environment.objects.filter(workspace__in=workspaces, workspace__slug=slug, name=name)
    environment = environments.select_related("workspace").first()
    if environment is None:
        raise Http404
    return environment
