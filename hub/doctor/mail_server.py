"""The check of the mail server."""

from __future__ import annotations

from ssl import SSLCertVerificationError

from django.conf import settings
from django.core.mail import get_connection

from hub.doctor.result import Result
from hub.local.host_names import THIS_MACHINE

CURE = "Correct EMAIL_URL (host, port, user, password), or let the mail server in through the firewall."
CERTIFICATE = "Name the server as in its certificate. If that is from an authority of your own, set SSL_CERT_FILE."


def check_mail_server() -> Result:
    """Connect to the mail server and sign in, but send no mail, and no password to another machine unencrypted."""
    if not settings.EMAIL_URL:
        return Result("ok", "EMAIL_URL is not set: mail is printed to the hub's output.")
    if sends_password_unencrypted():
        detail = f"The password of EMAIL_URL is sent to {settings.EMAIL_HOST} unencrypted."
        return Result("wrong", detail, "Write smtp+tls:// or smtp+ssl:// in EMAIL_URL.")
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


def sends_password_unencrypted() -> bool:
    """Return whether signing in to the mail server would send the password to another machine unencrypted."""
    is_encrypted = settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL
    return bool(settings.EMAIL_HOST_PASSWORD) and not is_encrypted and settings.EMAIL_HOST not in THIS_MACHINE
