"""The line that a start prints: the hub's address, and how to sign in."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.utils import timezone

from hub.local.listening_address import build_address
from workspaces.people.sign_in.links import VALID_FOR, create_link

OPERATOR = "operator"


def write_ready_line(*, with_link: bool) -> str:
    """Return the line, with a sign-in link only for a terminal, because others keep it in a log.

    The link is for the user `operator`, who may open every workspace of this hub.
    """
    operator, _ = get_user_model().objects.get_or_create(
        username=OPERATOR, defaults={"is_superuser": True, "is_staff": True}
    )
    if not operator.password:
        operator.set_unusable_password()  # an empty password would count as set
        operator.save(update_fields=["password"])
    way_in = "Sign in with a link of `manage.py sign_in_link`."
    if with_link:
        way_in = f"Sign in once with {create_sign_in_address(operator)} ({VALID_FOR // timedelta(minutes=1)} minutes)."
    return f"Affidavit is ready at {build_address(local=True)}. {way_in}"


def create_sign_in_address(user: User) -> str:
    """Return an address that signs the user in, once, within VALID_FOR.

    Its path is written here, because Django's `reverse` would load every page.
    """
    return f"{build_address(local=True)}/sign-in/{create_link(user, now=timezone.now())}"
