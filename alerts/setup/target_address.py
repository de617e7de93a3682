"""Check the address of a target before it is saved: e-mail addresses, or the URL of a chat or a webhook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from alerts.addresses.host_lookup import hold_lookup, look_up_host
from alerts.addresses.webhook_address import TargetRefused, parse_webhook_address
from alerts.delivery.send_mail import NO_MAIL_SERVER
from alerts.models import MAX_SHOWN_ADDRESS, Target

MAX_RECIPIENTS = 10


@dataclass(frozen=True)
class CheckedAddress:
    """An address that may be saved.

    text: the address as it is stored.
    shown_address: the part that pages may show.
    """

    text: str
    shown_address: str


def check_address(kind: str, text: str, workspace_id: str) -> CheckedAddress:
    """Check an address; raises TargetRefused. Never call it in a transaction: it resolves a webhook's host by DNS."""
    if kind == Target.EMAIL:
        recipients = list(dict.fromkeys(_split_recipients(text)))
        shown_address = ", ".join(recipients)
        if len(shown_address) > MAX_SHOWN_ADDRESS:
            cure = "Enter fewer, and the others in another target."
            raise TargetRefused(f"The addresses have more than {MAX_SHOWN_ADDRESS} characters. {cure}")
        return CheckedAddress(",".join(recipients), shown_address)
    address = parse_webhook_address(text.strip())
    with hold_lookup(workspace_id):
        look_up_host(address)
    return CheckedAddress(text.strip(), address.shown_address)


def _split_recipients(text: str) -> Sequence[str]:
    if not settings.EMAIL_URL:
        raise TargetRefused(NO_MAIL_SERVER)
    recipients = text.replace(",", " ").split()
    if not 1 <= len(recipients) <= MAX_RECIPIENTS:
        raise TargetRefused(f"Enter 1 to {MAX_RECIPIENTS} addresses, separated by commas.")
    for recipient in recipients:
        try:
            validate_email(recipient)
        except ValidationError:
            raise TargetRefused("Enter addresses such as name@example.com, separated by commas.") from None
    return recipients
