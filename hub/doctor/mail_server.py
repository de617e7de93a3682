"""The check of the mail server."""

from __future__ import annotations

from django.conf import settings
from django.core.mail import get_connection

from hub.doctor.result import Result


def check_mail_server() -> Result:
    """Connect to the mail server and sign in, but send nothing."""
    if not settings.EMAIL_URL:
        return Result("ok", "EMAIL_URL is not set: mail is printed to the hub's output.")
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    mail_server = get_connection()
    try:
        mail_server.open()
    except OSError as error:  # smtplib's errors are OSErrors too
        return Result(
            "wrong",
            f"{server} does not take mail ({type(error).__name__}).",
            "Correct EMAIL_URL (host, port, user, password), or let the mail server in through the firewall.",
        )
    mail_server.close()
    return Result("ok", f"{server} answers.")
