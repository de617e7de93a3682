"""Send one message to one target: by mail, to a chat, or as a signed webhook."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from alerts.delivery.http_post import RequestFailed, post
from alerts.delivery.mail_backend import SomeRefused
from alerts.delivery.messages import Message, build_body, build_mail, build_slack_body
from alerts.delivery.retries import parse_retry_after
from alerts.delivery.signature import SEPARATOR, sign
from alerts.models import Target
from alerts.targets.webhook_address import TargetRefused, parse_webhook_address
from wire.redelivery.encryption import decrypt

USER_AGENT = "Affidavit-Webhooks/1"
SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
REPORTING_BACKEND = "alerts.delivery.mail_backend.EmailBackend"
NO_MAIL_SERVER = "This hub has no mail server: the operator sets EMAIL_URL."


@dataclass(frozen=True)
class Answer:
    """The result of an attempt.

    code: the status of the HTTP answer, or the code with which the mail server refused; None without either.
    fault: why the attempt failed, "" if it succeeded.
    note: what went wrong although it succeeded, such as a refusal of one of several recipients.
    retry_after: how long the receiver asked to wait; None if it did not.
    """

    code: int | None = None
    fault: str = ""
    retry_after: timedelta | None = None
    note: str = ""


def send(target: Target, message: Message, message_id: str, *, now: datetime) -> Answer:
    """Make one attempt. It can take half a minute or more: call it outside of any transaction."""
    address = decrypt(bytes(target.encrypted_address)).decode()
    if target.kind == Target.EMAIL:
        return _send_mail(address.split(","), message, message_id)
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
    if target.kind == Target.SLACK:
        return _post(address, build_slack_body(message), headers, now=now)
    body, timestamp = build_body(message), int(now.timestamp())
    signature = sign(list_secrets(target, now=now), message_id, timestamp, body)
    headers |= {"webhook-id": message_id, "webhook-timestamp": str(timestamp), "webhook-signature": signature}
    return _post(address, body, headers, now=now)


def list_secrets(target: Target, *, now: datetime) -> list[str]:
    """Return the secrets that sign, the latest first: after a rotation, the previous ones too for a while."""
    columns = [target.encrypted_secret]
    if target.previous_until is not None and now < target.previous_until:
        columns.append(target.encrypted_previous_secret)
    texts = [decrypt(bytes(column)).decode() for column in columns if column is not None]
    return [secret for text in texts for secret in text.split(SEPARATOR)]


def _post(address: str, body: bytes, headers: dict[str, str], *, now: datetime) -> Answer:
    try:
        code, retry_after = post(parse_webhook_address(address), body, headers)
    except (TargetRefused, RequestFailed) as error:
        return Answer(fault=str(error))
    if 200 <= code < 300:
        return Answer(code)
    fault = "redirects are not followed" if 300 <= code < 400 else f"answered {code}"
    return Answer(code, fault, parse_retry_after(retry_after, now=now))


def _connect() -> BaseEmailBackend:
    """Return a connection of the hub's backend; one that reports refused recipients if it speaks SMTP."""
    return get_connection(REPORTING_BACKEND if settings.EMAIL_BACKEND == SMTP_BACKEND else None)


def _send_mail(recipients: list[str], message: Message, message_id: str) -> Answer:
    if not settings.EMAIL_URL:
        return Answer(fault=NO_MAIL_SERVER)
    subject, text = build_mail(message)
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ")
    headers = {"Message-ID": f"<{message_id}@{domain}>", "Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, text, None, recipients, headers=headers, connection=_connect()).send()
    except SomeRefused as error:  # another attempt would send it again to those who have it
        refusals = [f"{recipient} ({code})" for recipient, (code, _) in error.refusals.items()]
        return Answer(note=f"the mail server refused {', '.join(refusals)}")
    except SMTPResponseException as error:
        if error.smtp_code < 0:  # smtplib's code for an answer that begins with no number
            return Answer(fault="the mail server's answer is not SMTP")
        return Answer(error.smtp_code, f"the mail server answered {error.smtp_code}")
    except (OSError, SMTPException) as error:
        return Answer(fault=f"mail could not be sent ({type(error).__name__})")
    return Answer()
