"""Links that sign one user in, once, for 15 minutes."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser

from workspaces.models import SignInLink

VALID_FOR = timedelta(minutes=15)


def new_link(user: AbstractBaseUser, *, now: datetime) -> str:
    """The secret part of `/sign-in/<token>`: 256 bits, of which only a digest is kept."""
    SignInLink.objects.filter(expires_at__lte=now).delete()
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(digest=digest(token), user=user, expires_at=now + VALID_FOR)
    return token


def user_behind(token: str, *, now: datetime) -> AbstractBaseUser | None:
    """Whom the link would sign in, without using it up."""
    link = SignInLink.objects.filter(digest=digest(token), expires_at__gt=now).select_related("user").first()
    return link.user if link and link.user.is_active else None


def use_link(token: str, *, now: datetime) -> AbstractBaseUser | None:
    """Use the link up and say whom it signs in; of two at the same moment, one gets the user."""
    user = user_behind(token, now=now)
    used, _ = SignInLink.objects.filter(digest=digest(token)).delete()
    return user if used else None


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
