"""The machines' face of the catalog: witness reports in, downloads out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from catalog import document, downloads
from catalog.models import RedactionRule
from catalog.receive import receive
from catalog.rules import redaction as redaction_rules
from catalog.serializers import WitnessReportForm
from wire.problems import Problem
from wire.view import MachineView
from workspaces.access import workspaces_of
from workspaces.authentication import HEADER, KeyHasScope, ServiceKeyAuthentication, ServiceKeyScheme
from workspaces.models import ApiKey, Environment

ACCEPTED = inline_serializer(
    "WitnessReportAccepted", {"accepted": serializers.IntegerField(), "reportId": serializers.UUIDField()}
)
RULE = inline_serializer(
    "RedactionRule", {"kind": serializers.ChoiceField(RedactionRule.KINDS), "name": serializers.CharField()}, many=True
)
RULES = inline_serializer("WitnessRules", {"rules": RULE})


class WitnessReports(MachineView):
    """POST /api/witness-reports (contract 4): 202 once the report is durable; it is folded soon after."""

    scope = "report"
    form = WitnessReportForm
    items = "observations"

    @extend_schema(summary="Report observed shapes", request=WitnessReportForm, responses={202: ACCEPTED})
    def post(self, *args: Any, **kwargs: Any) -> Any:
        return super().post(*args, **kwargs)

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        report_id, observations = data["reportId"], data["observations"]
        receive(environment, report_id, raw, observations, reporter=data.get("reporter", ""), now=now)
        return Response({"accepted": len(observations), "reportId": str(report_id)}, status=202)


class KeyOrSession(ServiceKeyAuthentication):
    """A secret key where one is sent, else whoever is signed in."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey | None]:
        user = request._request.user
        if HEADER not in request.headers and user.is_authenticated:
            return user, None
        return super().authenticate(request)


class KeyOrSessionScheme(ServiceKeyScheme):
    """The same header; a signed-in browser needs none."""

    target_class = KeyOrSession
    name = "serviceKeyOrSession"


class KeyHasScopeOrSession(KeyHasScope):
    def has_permission(self, request: Request, view: Any) -> bool:
        return request.auth is None or super().has_permission(request, view)


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
        return key.environment_named(request.query_params.get("environment", "production"))

    def named_workspace(self, request: Request) -> ApiKey:
        """An unsaved key of the workspace in `workspace=`: what a reader may see is what such a key may."""
        slug = request.query_params.get("workspace", "")
        if not slug:
            raise Problem(400, "invalid-request", "Name the workspace: add workspace=SLUG.")
        workspace = workspaces_of(request.user).filter(slug=slug).first()
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
        return document.etag(environment, evidence=evidence_wanted(request))

    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        rendered = document.render(environment, evidence=evidence_wanted(request))
        headers = {"ETag": rendered.etag, "Content-Length": str(rendered.length)}
        return StreamingHttpResponse(rendered.chunks(), content_type="application/json", headers=headers)


class FormView(DownloadView):
    """The catalog in one of `downloads.FORMS`; nothing in it is changed by counting."""

    form: ClassVar[str]

    @extend_schema(parameters=SELECTION, responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request) -> HttpResponseBase:
        return super().get(request)

    def etag(self, environment: Environment, request: Request) -> str:
        return downloads.etag(environment, self.form)

    def download(self, environment: Environment, request: Request) -> HttpResponseBase:
        made = downloads.download(environment, self.form)
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

    def made(self, environment: Environment) -> downloads.Download:
        return downloads.small({"rules": redaction_rules.pulled(environment)})


def evidence_wanted(request: Request) -> bool:
    given = request.query_params.get("evidence", "1")
    if given not in ("0", "1"):
        raise Problem(400, "invalid-request", "Send evidence=0, or leave it out.")
    return given == "1"
