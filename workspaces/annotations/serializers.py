"""The bodies of /api/annotations (contract §6)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from wire.http.fields import EnvironmentName, ExactText, Flag, Form, Moment
from workspaces.annotations.web_address import UNFIT_ADDRESS, is_web_address
from workspaces.models import Annotation


class WebAddress(ExactText):
    """An absolute http or https address."""

    default_error_messages = {"invalid-url": UNFIT_ADDRESS}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not is_web_address(text):
            self.fail("invalid-url")
        return text


class AnnotationForm(Form):
    environment = EnvironmentName()
    allEnvironments = Flag(
        required=False, default=False, help_text="Whether it is for all environments of the workspace."
    )
    at = Moment(required=False, help_text="When it happened, in Unix seconds. Default: now.")
    text = ExactText(max_length=Annotation.MAX_TEXT, help_text="What happened, as charts show it.")
    url = WebAddress(required=False, max_length=Annotation.MAX_URL, help_text="Where more can be read.")


class AnnotationReceipt(serializers.Serializer[Any]):
    annotationId = serializers.UUIDField()
    at = serializers.IntegerField(help_text="When it happened, in Unix seconds.")


class ListedAnnotation(serializers.Serializer[Any]):
    annotationId = serializers.UUIDField()
    at = serializers.IntegerField(help_text="When it happened, in Unix seconds.")
    text = serializers.CharField()
    url = serializers.CharField(allow_null=True)
    environment = serializers.CharField(allow_null=True, help_text="null: all environments of the workspace.")


class AnnotationList(serializers.Serializer[Any]):
    annotations = ListedAnnotation(many=True)
    next = serializers.URLField(allow_null=True, help_text="The address of the next part, null at the end.")
