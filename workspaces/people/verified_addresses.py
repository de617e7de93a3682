"""The verified e-mail addresses of accounts: an invitation or an OpenID Connect provider verifies one."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db.models import QuerySet


def verify_address(user: User, email: str) -> None:
    is_first = not EmailAddress.objects.filter(user=user, primary=True).exists()
    EmailAddress.objects.update_or_create(
        user=user, email=email, defaults={"verified": True}, create_defaults={"verified": True, "primary": is_first}
    )
    if not user.email:
        user.email = email
        user.save(update_fields=["email"])


def add_vouched_address(user: User, email: str) -> None:
    """Add an address for which an OpenID Connect provider vouches, unless another account has it."""
    if not list_users_of(email.lower()).exists():
        verify_address(user, email.lower())


def list_users_of(email: str) -> QuerySet[User]:
    user_ids = EmailAddress.objects.filter(email=email, verified=True).values("user")
    return User.objects.filter(pk__in=user_ids)
