"""The verified e-mail addresses of accounts: an invitation or an OpenID Connect provider verifies one."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Q, QuerySet


def verify_address(user: User, email: str) -> None:
    is_first = not EmailAddress.objects.filter(user=user, primary=True).exists()
    EmailAddress.objects.update_or_create(
        user=user, email=email, defaults={"verified": True}, create_defaults={"verified": True, "primary": is_first}
    )
    if not user.email:
        user.email = email
        user.save(update_fields=["email"])


@transaction.atomic
def follow_vouched_address(user: User, email: str) -> None:
    """Make the address for which an OpenID Connect provider vouches the only one of the user.

    The provider may give an earlier address to somebody else, who must not get into this account by it. If another
    account has the new address, nothing changes.
    """
    email = email.lower()
    if list_users_of(email).exclude(pk=user.pk).exists():
        return
    EmailAddress.objects.filter(user=user).exclude(email=email).delete()
    verify_address(user, email)
    if user.email != email:
        user.email = email
        user.save(update_fields=["email"])


def list_users_of(email: str) -> QuerySet[User]:
    """Return who has verified this address; if nobody has, the operators with this address.

    Whoever made an operator (`manage.py createsuperuser`) runs the hub, so the address given there counts.
    """
    verified_addresses = EmailAddress.objects.filter(email=email, verified=True)
    is_operator = Q(is_superuser=True, email__iexact=email) & ~Exists(verified_addresses)
    return User.objects.filter(Q(pk__in=verified_addresses.values("user")) | is_operator)
