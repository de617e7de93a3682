"""The verified e-mail addresses of accounts: an invitation or an OpenID Connect provider verifies one."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from workspaces.people.address_spellings import list_spellings, normalize_address


def verify_address(user: User, email: str) -> None:
    email = normalize_address(email)
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
    email = normalize_address(email)
    if list_users_of(email).exclude(pk=user.pk).exists():
        return
    EmailAddress.objects.filter(user=user).exclude(email=email).delete()
    verify_address(user, email)
    if user.email != email:
        user.email = email
        user.save(update_fields=["email"])


def list_users_of(email: str) -> QuerySet[User]:
    """Return who has verified this address; if nobody has, the operators with this address.

    Whoever made an operator (`manage.py createsuperuser`) runs the hub, so the address given there counts. Where two
    accounts have an address in two spellings, each has its own.
    """
    spellings = list_spellings(email)
    for spelling in spellings:
        users = User.objects.filter(emailaddress__email=spelling, emailaddress__verified=True)
        if users.exists():
            return users
    has_spelling = Q(*(("email__iexact", spelling) for spelling in spellings), _connector=Q.OR)
    return User.objects.filter(has_spelling, is_superuser=True)


def find_known_spelling(email: str) -> str:
    """Return the spelling of an address that an account has; the given one if it is the only one or nobody has any."""
    spellings = list_spellings(email)
    if len(spellings) == 1:
        return email
    for spelling in spellings:
        if User.objects.filter(Q(email__iexact=spelling) | Q(emailaddress__email=spelling)).exists():
            return spelling
    return email
