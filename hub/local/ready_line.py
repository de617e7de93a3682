"""The line that a start prints: the hub's address, and how to sign in."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.utils import timezone

from hub.local.run_hub import build_address
from workspaces.people.sign_in.links import create_link

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
    address = build_address(local=True)
    way_in = "Sign in with a link of `manage.py sign_in_link`."
    if with_link:
        way_in = f"Sign in once with {address}/sign-in/{create_link(operator, now=timezone.now())} (15 minutes)."
    return f"Affidavit is ready at {address}. {way_in}"
