"""Links that sign one user in, once, within 15 minutes."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User

from workspaces.link_tokens import hash_token, make_token
from workspaces.models import SignInLink

VALID_FOR = timedelta(minutes=15)


def create_link(user: User, *, now: datetime) -> str:
    """Return the secret part of `/sign-in/<token>`: 256 random bits; only a digest of them is stored."""
    SignInLink.objects.filter(expires_at__lte=now).delete()
    token = make_token()
    SignInLink.objects.create(digest=hash_token(token), user=user, expires_at=now + VALID_FOR)
    return token


def find_link_user(token: str, *, now: datetime) -> User | None:
    """Return the user that the link would sign in, without using it up; None if it no longer works."""
    link = SignInLink.objects.filter(digest=hash_token(token), expires_at__gt=now).select_related("user").first()
    return link.user if link and link.user.is_active else None


def use_link(token: str, *, now: datetime) -> User | None:
    """Use the link up and return its user; of two calls at the same moment, one gets the user."""
    user = find_link_user(token, now=now)
    row_count, _ = SignInLink.objects.filter(digest=hash_token(token)).delete()
    return user if row_count else None
