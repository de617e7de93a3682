"""GET /api/catalog and its other forms (contract 5), and the redaction rules that reporters pull."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from catalog.downloads import documents, forms
from catalog.models import RedactionRule
from catalog.rules import redaction as redaction_rules
from wire.errors import InvalidRequest
from workspaces.access import list_workspaces
from workspaces.authentication import HEADER, KeyHasScopeOrSession, KeyOrSession
from workspaces.models import ApiKey, Environment

RULE = inline_serializer(
    "RedactionRule", {"kind": serializers.ChoiceField(RedactionRule.KINDS), "name": serializers.CharField()}, many=True
)
RULES = inline_serializer("WitnessRules", {"rules": RULE})


class DownloadView(APIView):
    """A GET of one environment's catalog in some form, with a strong ETag (contract 5).

    A subclass gives `etag`, which is cheap, and `download`, whose answer has the ETag of its own bytes.
    """

    scope = "report"
    http_method_names = ["get", "head"]
    authentication_classes = [KeyOrSession]
    permission_classes = [KeyHasScopeOrSession]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method.lower() not in self.http_method_names:
            raise exceptions.MethodNotAllowed(request.method)
        super().initial(request, *args, **kwargs)

    def get(self, request: Request) -> HttpResponseBase:
        environment = self.environment(request)
        tag = self.etag(environment, request)
        response = get_conditional_response(request._request, etag=tag)
        if response is None:
            response = self.download(environment, request)
        response.headers.setdefault("ETag", tag)
        response.headers["Cache-Control"] = "private, no-cache"
        response.headers["Vary"] = f"{HEADER}, Cookie"
        return response

    def environment(self, request: Request) -> Environment:
        """`environment=` of the key's workspace, or of the one that a signed-in reader names by its slug."""
        key = request.auth or self.named_workspace(request)
        return key.require_environment(request.query_params.get("environment", "production"))

    def named_workspace(self, request: Request) -> ApiKey:
        """An unsaved key of the workspace in `workspace=`: what a reader may see is what such a key may."""
        slug = request.query_params.get("workspace", "")
        if not slug:
            raise InvalidRequest("Name the workspace: add workspace=SLUG.")
        workspace = list_workspaces(request.user).filter(slug=slug).first()
        if workspace is None:
            raise exceptions.NotFound
        return ApiKey(workspace=workspace)

    @abstractmethod
    def etag(self, environment: Environment, request: Request) -> str:
        """The validator of what `download` would answer now."""

    @abstractmethod
    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        """The answer to a reader who has not got it yet."""


SELECTION = [
    OpenApiParameter("environment", str, description="Default: production."),
    OpenApiParameter("workspace", str, description="Its slug, when signed in and without a key."),
]


class Catalog(DownloadView):
    """GET /api/catalog: every operation of an environment with its shapes, whole."""

    @extend_schema(
        summary="The catalog of an environment",
        parameters=[
            *SELECTION,
            OpenApiParameter("evidence", int, enum=[0, 1], description="0: without all that counting changes."),
        ],
        responses={200: OpenApiTypes.OBJECT},
    )
    def get(self, request: Request) -> HttpResponseBase:
        return super().get(request)

    def etag(self, environment: Environment, request: Request) -> str:
        return documents.etag(environment, evidence=evidence_wanted(request))

    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        rendered = documents.render(environment, evidence=evidence_wanted(request))
        headers = {"ETag": rendered.etag, "Content-Length": str(rendered.length)}
        return StreamingHttpResponse(rendered.chunks(), content_type="application/json", headers=headers)


class FormView(DownloadView):
    """The catalog in one of `downloads.FORMS`; nothing in it is changed by counting."""

    form: ClassVar[str]

    @extend_schema(parameters=SELECTION, responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> HttpResponseBase:
        return super().get(request)

    def etag(self, environment: Environment, request: Request) -> str:
        return forms.etag(environment, self.form)

    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        made = forms.download(environment, self.form)
        return HttpResponse(made.body, content_type="application/json", headers={"ETag": made.etag})


class OpenApi(FormView):
    """The catalog of an environment as OpenAPI 3.1."""

    form = "openapi"


class Schemas(FormView):
    """The shapes of an environment as one JSON Schema 2020-12 document, a definition for each part."""

    form = "schemas"


class Tools(FormView):
    """The operations of an environment as tool definitions for assistants."""

    form = "tools"


class WitnessRules(DownloadView):
    """The redaction rules of an environment, which reporters pull at start: what they hold is names, never values."""

    @extend_schema(summary="The redaction rules of an environment", parameters=SELECTION, responses={200: RULES})
    def get(self, request: Request) -> HttpResponseBase:
        return super().get(request)

    def etag(self, environment: Environment, request: Request) -> str:
        return self.made(environment).etag

    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        made = self.made(environment)
        return HttpResponse(made.body, content_type="application/json", headers={"ETag": made.etag})

    def made(self, environment: Environment) -> forms.Download:
        return forms.small({"rules": redaction_rules.list_active_redactions(environment)})


def evidence_wanted(request: Request) -> bool:
    given = request.query_params.get("evidence", "1")
    if given not in ("0", "1"):
        raise InvalidRequest("Send evidence=0, or leave it out.")
    return given == "1"
