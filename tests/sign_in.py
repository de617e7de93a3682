"""Browsers that are signed in to a workspace, for tests of its pages."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.test import Client

from workspaces.create import NewWorkspace
from workspaces.models import Membership


def sign_in_as(role: str, created: NewWorkspace) -> Client:
    """Return the browser of a new member with this role, whose name is that of the role."""
    user = get_user_model().objects.create_user(role)
    Membership.objects.create(workspace=created.workspace, user=user, role=role)
    return sign_in_user(user)


def sign_in_user(user: AbstractBaseUser) -> Client:
    """Return a browser in which a person is signed in."""
    client = Client()
    client.force_login(user)
    return client
