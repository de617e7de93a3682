"""The check of the mail server."""

from __future__ import annotations

from ssl import SSLCertVerificationError

from django.conf import settings
from django.core.mail import get_connection

from hub.doctor.result import Result

CURE = "Correct EMAIL_URL (host, port, user, password), or let the mail server in through the firewall."
CERTIFICATE = "Name the server as in its certificate. If that is from an authority of your own, set SSL_CERT_FILE."


def check_mail_server() -> Result:
    """Connect to the mail server and sign in, but send nothing."""
    if not settings.EMAIL_URL:
        return Result("ok", "EMAIL_URL is not set: mail is printed to the hub's output.")
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    mail_server = get_connection()
    try:
        mail_server.open()
    except OSError as error:  # smtplib's errors are OSErrors too
        is_refused = isinstance(error, SSLCertVerificationError)
        return Result(
            "wrong", f"{server} does not take mail ({type(error).__name__}).", CERTIFICATE if is_refused else CURE
        )
    mail_server.close()
    return Result("ok", f"{server} answers.")
