"""The mails of the hub, which are sent in the background."""

from __future__ import annotations

import threading

from django.core import mail
from django.core.mail import EmailMessage

from workspaces.people.account_adapter import MAIL_THREAD


def read_mails() -> list[EmailMessage]:
    """Return the mails that were sent, once none is being sent any more."""
    for thread in threading.enumerate():
        if thread.name == MAIL_THREAD:
            thread.join(30)
    return list(mail.outbox)
