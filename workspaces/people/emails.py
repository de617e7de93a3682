"""Send the link of an invitation."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from workspaces.models import Invitation

log = logging.getLogger("affidavit.people")


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Return whether the mail server took the message; without one (EMAIL_URL), nothing is sent."""
    if not settings.EMAIL_URL:
        return False
    text = render_to_string("account/email/invitation.txt", {"invitation": invitation, "link": link})
    try:
        send_mail(f"Join {invitation.workspace.name} on Affidavit", text, None, [invitation.email])
    except (OSError, SMTPException) as error:
        log.error("mail could not be sent: %s", type(error).__name__)
        return False
    return True
