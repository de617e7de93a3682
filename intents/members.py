"""Who may act by hand: members by their session. A key reads pages but never acts on them."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404

from workspaces.access import workspaces_of
from workspaces.models import Environment


def environment_of_member(user: AbstractBaseUser | AnonymousUser, slug: str, name: str) -> Environment:
    """Raises Http404, the same for what does not exist and for what is not yours."""
    found = Environment.objects.filter(workspace__in=workspaces_of(user), workspace__slug=slug, name=name)
    environment = found.select_related("workspace").first()
    if environment is None:
        raise Http404
    return environment
