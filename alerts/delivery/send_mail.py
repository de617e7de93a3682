"""Send a message by mail."""

from __future__ import annotations

from collections.abc import Mapping
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage

from alerts.delivery.answer import Answer
from alerts.delivery.messages import Message, build_mail
from wire.mail.smtp import NoAnswerInTime, SomeRefused
from wire.mail.subjects import build_subject

NO_MAIL_SERVER = "This hub has no mail server: the operator sets EMAIL_URL."


def send_mail(recipients: list[str], message: Message, message_id: str) -> Answer:
    """Send one message to all recipients in one mail."""
    if not settings.EMAIL_URL:
        return Answer(fault=NO_MAIL_SERVER)
    subject, text = build_mail(message)
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ")
    headers = {"Message-ID": f"<{message_id}@{domain}>", "Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(build_subject(subject), text, None, recipients, headers=headers).send()
    except SomeRefused as error:  # another attempt would send it again to those who have it
        return Answer(note=_list_refusals(error.refusals))
    except SMTPRecipientsRefused as error:  # all of them
        code, _ = next(iter(error.recipients.values()))
        return Answer(code, _list_refusals(error.recipients))
    except SMTPResponseException as error:
        if error.smtp_code < 0:  # smtplib's code for an answer that begins with no number
            return Answer(fault="the mail server's answer is not SMTP")
        return Answer(error.smtp_code, f"the mail server answered {error.smtp_code}")
    except NoAnswerInTime:
        return Answer(fault="the mail server did not answer in time")
    except (OSError, SMTPException) as error:
        return Answer(fault=f"mail could not be sent ({type(error).__name__})")
    return Answer()


def _list_refusals(refusals: Mapping[str, tuple[int, bytes]]) -> str:
    """Return `the mail server refused ada@example.com (550)`.

    refusals: the server's code and text for each refused recipient.
    """
    recipients = [f"{recipient} ({code})" for recipient, (code, _) in refusals.items()]
    return f"the mail server refused {', '.join(recipients)}"
