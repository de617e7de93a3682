"""Who may open which page: a signed-in member, an operator, or a machine with that workspace's secret key."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from workspaces.authentication import HEADER, secret_key
from workspaces.models import Environment, Workspace


def workspaces_of(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Workspace]:
    """Every workspace that this user may open; operators (superusers) open all."""
    if not user.is_authenticated:
        return Workspace.objects.none()
    if user.is_superuser:
        return Workspace.objects.all()
    return Workspace.objects.filter(memberships__user=user)


def readable_workspaces(request: HttpRequest) -> QuerySet[Workspace]:
    """By session, or by key where a key was sent; raises Problem 401 or 403 for a bad key."""
    if HEADER in request.headers:
        key = secret_key(request.headers[HEADER])
        if "report" not in key.scopes:
            return Workspace.objects.none()
        return Workspace.objects.filter(pk=key.workspace_id)
    return workspaces_of(request.user)


def readable_environment(request: HttpRequest, slug: str, name: str) -> Environment:
    """Raises Http404, the same for what does not exist and for what is not yours."""
    return environment_among(readable_workspaces(request), slug, name)


def environment_of_member(request: HttpRequest, slug: str, name: str) -> Environment:
    """For what is done by hand: by session only, as a key reads pages but never acts on them. Raises Http404."""
    return environment_among(workspaces_of(request.user), slug, name)


def environment_among(workspaces: QuerySet[Workspace], slug: str, name: str) -> Environment:
    found = Environment.objects.filter(workspace__in=workspaces, workspace__slug=slug, name=name)
    environment = found.select_related("workspace").first()
    if environment is None:
        raise Http404
    return environment
