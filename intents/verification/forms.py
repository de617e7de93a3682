"""The form of the inspector: what a person pastes, made into a received request."""

from __future__ import annotations

from django import forms

from intents.verification.received_request import ReceivedRequest

HEADER_NAME = "x-service-intent:"


class RequestForm(forms.Form):
    """What a backend received. Only method and path are required."""

    header = forms.CharField(required=False)
    method = forms.CharField(max_length=32)
    path = forms.CharField(max_length=8192, strip=False)
    query = forms.CharField(required=False, strip=False)
    content_type = forms.CharField(required=False)
    content_encoding = forms.CharField(required=False)
    body = forms.CharField(required=False, strip=False)
    step_up = forms.BooleanField(required=False)

    def clean_header(self) -> str:
        """Take the value of the header out of a whole header line."""
        header: str = self.cleaned_data["header"]
        return header[len(HEADER_NAME) :].strip() if header.lower().startswith(HEADER_NAME) else header

    def build_request(self) -> ReceivedRequest:
        """Build the received request from the cleaned fields."""
        fields = dict(self.cleaned_data)
        # A browser sends the lines of a text area with CR LF; a backend rarely receives that.
        body = fields.pop("body").replace("\r\n", "\n").encode()
        query = fields.pop("query").removeprefix("?")
        return ReceivedRequest(body=body, query=query, **fields)
