"""Expired sessions, links and invitations are deleted; valid ones stay."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from workspaces.models import Invitation, Membership, SignInLink
from workspaces.people.invitations.invite import invite
from workspaces.people.prune import delete_expired
from workspaces.people.sign_in.links import create_link

pytestmark = pytest.mark.django_db


def test_expired_sessions_links_and_invitations_are_deleted(workspace):
    now = timezone.now()
    user = get_user_model().objects.create_user("ada")
    Client().force_login(user)
    create_link(user, now=now)
    invite(workspace.workspace, "bob@example.com", Membership.VIEWER, actor="ada", now=now)
    assert delete_expired(now=now) == 0
    assert delete_expired(now=now + timedelta(days=30)) == 3
    assert not any(model.objects.exists() for model in (Session, SignInLink, Invitation))


def test_an_accepted_invitation_is_not_deleted(workspace):
    now = timezone.now()
    invitation, _ = invite(workspace.workspace, "bob@example.com", Membership.VIEWER, actor="ada", now=now)
    Invitation.objects.filter(pk=invitation.pk).update(accepted_at=now)
    assert delete_expired(now=now + timedelta(days=30)) == 0
