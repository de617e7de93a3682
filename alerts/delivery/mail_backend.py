"""Django's backend for SMTP, which also reports that a server refused only some of the recipients of a mail."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from typing import Any

from django.core.mail.backends import smtp


class SomeRefused(smtplib.SMTPException):
    """The server took the mail, but not for these recipients; `refusals` has its answer to each."""

    def __init__(self, refusals: Mapping[str, tuple[int, bytes]]) -> None:
        super().__init__(refusals)
        self.refusals = refusals


class ReportingConnection(smtplib.SMTP):
    def sendmail(self, *arguments: Any, **options: Any) -> dict[str, tuple[int, bytes]]:
        if refusals := super().sendmail(*arguments, **options):
            raise SomeRefused(refusals)
        return refusals


class ReportingTlsConnection(ReportingConnection, smtplib.SMTP_SSL):
    pass


class EmailBackend(smtp.EmailBackend):
    """Send as Django's backend does; raises SomeRefused, after the mail was sent to the other recipients."""

    @property
    def connection_class(self) -> type[ReportingConnection]:
        return ReportingTlsConnection if self.use_ssl else ReportingConnection
