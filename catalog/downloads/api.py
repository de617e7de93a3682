"""GET /api/catalog and its other formats (contract §5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import exceptions
from rest_framework.request import Request

from catalog.downloads import documents, examples
from catalog.downloads.document_cache import get_or_render
from catalog.downloads.documents import Document
from catalog.downloads.etags import compute_catalog_etag, compute_format_etag
from wire.address_members import read_text
from wire.errors import InvalidRequest
from wire.http.machine_view import CallExample, MethodFirstView
from wire.postgresql.replica_requests import answer_from_replica
from workspaces.access import list_workspaces
from workspaces.authentication import HEADER, KeyHasScopeOrSession, KeyOrSession, key_of_request
from workspaces.models import ApiKey, Environment

MAX_WHOLE_BYTES = 1024 * 1024


class DownloadView(MethodFirstView):
    """A GET of one environment's catalog in some format, with a strong ETag (contract §5).

    is_current: whether the answer is always read from the primary.

    A subclass implements `compute_etag`, which is cheap, and `respond`, which sets the ETag of the bytes that it
    returns.
    """

    scope = "report"
    is_current: ClassVar[bool] = False
    own_codes = ("unknown-environment", "not-found")
    http_method_names = ["get", "head"]
    authentication_classes = [KeyOrSession]
    permission_classes = [KeyHasScopeOrSession]

    def get(self, request: Request) -> HttpResponseBase:
        environment = self.find_environment(request)
        if self.is_current:
            return self.answer(environment, request)
        return answer_from_replica(request._request, lambda: self.answer(environment, request))

    def answer(self, environment: Environment, request: Request) -> HttpResponseBase:
        etag = self.compute_etag(environment, request)
        not_modified = get_conditional_response(request._request, etag=etag)
        response = not_modified or self.respond(environment, request)
        response.headers.setdefault("ETag", etag)
        response.headers["Cache-Control"] = "private, no-cache"
        response.headers["Content-Disposition"] = f'attachment; filename="{self.name_file(environment)}"'
        response.headers["Vary"] = f"{HEADER}, Cookie"
        return response

    def find_environment(self, request: Request) -> Environment:
        """Return `environment=` of the key's workspace; of the workspace in `workspace=` for a signed-in reader."""
        key = key_of_request(request) if request.auth else self.build_session_key(request)
        return key.require_environment(request.query_params.get("environment", "production"))

    def build_session_key(self, request: Request) -> ApiKey:
        """Return an unsaved key for members of the workspace in `workspace=`.

        It finds all environments of the workspace; a stored key does not find archived ones.
        """
        slug = read_text(request.query_params, "workspace")
        if not slug:
            raise InvalidRequest("Name the workspace: add workspace=SLUG.")
        workspace = list_workspaces(request.user).filter(slug=slug).first()
        if workspace is None:
            raise exceptions.NotFound
        key = ApiKey(workspace=workspace)
        key.environments = {environment.name: environment for environment in workspace.environments.all()}
        return key

    def name_file(self, environment: Environment) -> str:
        """Return the name under which a browser saves the answer: `lumen-books-production-openapi.json`."""
        last_segment = self.request.path.rsplit("/", 1)[-1].removesuffix(".json")
        return f"{environment.workspace.slug}-{environment.name}-{last_segment}.json"

    @abstractmethod
    def compute_etag(self, environment: Environment, request: Request) -> str:
        """Return the ETag of what `respond` would answer now."""

    @abstractmethod
    def respond(self, environment: Environment, request: Request) -> HttpResponseBase:
        """Return the whole answer, for a reader whose copy is missing or out of date."""


ENVIRONMENT_PARAMETERS = [
    OpenApiParameter("environment", str, description="Default: production."),
    OpenApiParameter("workspace", str, description="Its slug, when signed in and without a key."),
]
EVIDENCE = OpenApiParameter("evidence", int, enum=[0, 1], description="0: without counts and times.")
API_FORMATS: Mapping[str, str] = {"openai": "tools for openai", "anthropic": "tools for anthropic"}
API_FORMAT = OpenApiParameter(
    "format",
    str,
    enum=list(API_FORMATS),
    description="List the tools as the API of this provider takes them. Default: for no provider.",
)


def _describe_get(*parameters: OpenApiParameter) -> Any:
    """Return what the OpenAPI document of the hub says of a download, with the parameters that only it takes."""
    return extend_schema(parameters=[*ENVIRONMENT_PARAMETERS, *parameters], responses={200: OpenApiTypes.OBJECT})


@extend_schema_view(get=_describe_get(EVIDENCE))
class Catalog(DownloadView):
    """Every operation of an environment with its shapes and counts, as one document."""

    examples = {"GET": CallExample("Download the catalog", examples.CATALOG)}

    def compute_etag(self, environment: Environment, request: Request) -> str:
        return compute_catalog_etag(environment, evidence=parse_evidence(request))

    def respond(self, environment: Environment, request: Request) -> HttpResponseBase:
        evidence = parse_evidence(request)
        document = get_or_render(
            environment,
            "catalog" if evidence else "catalog without evidence",
            compute_etag=lambda: compute_catalog_etag(environment, evidence=evidence),
            render=lambda: documents.render_catalog(environment, evidence=evidence),
        )
        return respond_with(document)


@extend_schema_view(get=_describe_get())
class FormatView(DownloadView):
    """The catalog in one of `documents.FORMATS`. It has no counts, so more of the same traffic does not change it."""

    format_name: ClassVar[str]

    def find_format_name(self, request: Request) -> str:
        return self.format_name

    def compute_etag(self, environment: Environment, request: Request) -> str:
        return compute_format_etag(environment, self.find_format_name(request))

    def respond(self, environment: Environment, request: Request) -> HttpResponseBase:
        format_name = self.find_format_name(request)
        document = get_or_render(
            environment,
            format_name,
            compute_etag=lambda: compute_format_etag(environment, format_name),
            render=lambda: documents.render_format(environment, format_name),
        )
        return respond_with(document)


class OpenApi(FormatView):
    """The catalog of an environment as OpenAPI 3.1."""

    format_name = "openapi"
    examples = {"GET": CallExample("Download as OpenAPI", examples.OPENAPI)}


class Schemas(FormatView):
    """The shapes of an environment as one JSON Schema 2020-12 document, a definition for each part."""

    format_name = "schemas"
    examples = {"GET": CallExample("Download as JSON Schema", examples.SCHEMAS)}


@extend_schema_view(get=_describe_get(API_FORMAT))
class Tools(FormatView):
    """The operations of an environment as tool definitions for assistants."""

    format_name = "tools"
    examples = {"GET": CallExample("Download tool definitions", examples.TOOLS)}

    def name_file(self, environment: Environment) -> str:
        provider = self.request.query_params.get("format")
        name = super().name_file(environment)
        return f"{name.removesuffix('.json')}-{provider}.json" if provider in API_FORMATS else name

    def find_format_name(self, request: Request) -> str:
        """Return the format that `format=` names. Raises InvalidRequest for an unknown one."""
        name = request.query_params.get("format")
        if name is None:
            return self.format_name
        if name not in API_FORMATS:
            raise InvalidRequest(f"Send format={' or format='.join(API_FORMATS)}, or leave it out.")
        return API_FORMATS[name]


class McpTools(FormatView):
    """The operations of an environment as the result of `tools/list` of the Model Context Protocol."""

    format_name = "mcp"
    examples = {"GET": CallExample("Download MCP tools", examples.MCP_TOOLS)}


def respond_with(document: Document) -> HttpResponseBase:
    """Answer with a document; a large one is unpacked while it is sent."""
    headers = {"ETag": document.etag, "Content-Length": str(document.length)}
    if document.length <= MAX_WHOLE_BYTES:
        return HttpResponse(document.body, content_type="application/json", headers=headers)
    return StreamingHttpResponse(document.read_chunks(), content_type="application/json", headers=headers)


def parse_evidence(request: Request) -> bool:
    """Return whether the answer has counts and times: `evidence=0` leaves them out."""
    value = request.query_params.get("evidence", "1")
    if value not in ("0", "1"):
        raise InvalidRequest("Send evidence=0, or leave it out.")
    return value == "1"
