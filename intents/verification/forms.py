"""The form of the inspector: what a person pastes, made into a received request."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.utils import timezone

from intents.verification.received_request import MAX_METHOD, MAX_PATH, ReceivedRequest
from wire.time.timestamps import is_reportable, moment_from_unix, parse_moment

HEADER_NAME = "x-service-intent:"
EXAMPLE_MOMENT = "2026-03-01T14:02:12Z"


class RequestForm(forms.Form):
    """The form of a request that a backend received, with the time. Only method and path are required."""

    header = forms.CharField(required=False)
    method = forms.CharField(max_length=MAX_METHOD)
    path = forms.CharField(max_length=MAX_PATH, strip=False)
    query = forms.CharField(required=False, strip=False)
    content_type = forms.CharField(required=False)
    content_encoding = forms.CharField(required=False)
    body = forms.CharField(required=False, strip=False)
    received_at = forms.CharField(required=False)
    step_up = forms.BooleanField(required=False)

    def clean_header(self) -> str:
        """Take the value of the header out of a whole header line."""
        header: str = self.cleaned_data["header"]
        return header[len(HEADER_NAME) :].strip() if header.lower().startswith(HEADER_NAME) else header

    def clean_received_at(self) -> datetime | None:
        """Read an ISO 8601 time (UTC if it names no zone) or a Unix time; None if the field is empty."""
        text: str = self.cleaned_data["received_at"]
        if not text:
            return None
        try:
            moment = parse_received_at(text)
        except (ValueError, OverflowError, OSError):
            raise forms.ValidationError(f"Write it like {EXAMPLE_MOMENT}, or as a Unix time.") from None
        if not is_reportable(moment, timezone.now()):
            raise forms.ValidationError("A request was received between the year 2000 and now.")
        return moment

    def build_request(self) -> ReceivedRequest:
        """Build the received request from the cleaned fields."""
        fields = {name: value for name, value in self.cleaned_data.items() if name != "received_at"}
        # A browser sends the lines of a text area with CR LF; a backend rarely receives that.
        body = fields.pop("body").replace("\r\n", "\n").encode()
        query = fields.pop("query").removeprefix("?")
        return ReceivedRequest(body=body, query=query, **fields)


def parse_received_at(text: str) -> datetime:
    """Read an ISO 8601 time or a Unix time. Raises ValueError, OverflowError or OSError."""
    try:
        number = float(text)
    except ValueError:
        return parse_moment(text)
    return moment_from_unix(number)
