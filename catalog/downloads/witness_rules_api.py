"""GET /api/witness-rules: the redaction rules that reporters pull (contract §4)."""

from __future__ import annotations

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request

from catalog.downloads import documents, examples
from catalog.downloads.api import ENVIRONMENT_PARAMETERS, DownloadView, respond_with
from catalog.downloads.documents import Document
from catalog.models import RedactionRule
from catalog.rules import redaction_rules
from wire.http.machine_view import CallExample
from workspaces.models import Environment

REDACTION_RULE = inline_serializer(
    "RedactionRule", {"kind": serializers.ChoiceField(RedactionRule.KINDS), "name": serializers.CharField()}, many=True
)
REDACTION_RULES = inline_serializer("WitnessRules", {"rules": REDACTION_RULE})


@extend_schema_view(get=extend_schema(parameters=ENVIRONMENT_PARAMETERS, responses={200: REDACTION_RULES}))
class WitnessRules(DownloadView):
    """The redaction rules of an environment, which reporters pull at start. They hold names, never values."""

    is_current = True
    examples = {"GET": CallExample("List redaction rules", examples.REDACTION_RULES)}

    def compute_etag(self, environment: Environment, request: Request) -> str:
        return self.render(environment).etag

    def respond(self, environment: Environment, request: Request) -> HttpResponseBase:
        return respond_with(self.render(environment))

    def render(self, environment: Environment) -> Document:
        return documents.render_small_document({"rules": redaction_rules.list_active_redactions(environment)})
