"""The base of every machine endpoint: make the checks in the order of contract §1, then call the domain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, cast

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import exceptions, renderers, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from wire.http.body import parse_body, read_body
from wire.http.bounded_lists import check_batch_size
from wire.metrics.definitions import ITEMS, count_after_commit
from wire.redelivery.idempotency import Claim, answer_once


class CallerKey(Protocol):
    """The key of a request, which authentication puts into `request.auth`.

    environment_names: the environments that it may use, all if empty.
    """

    workspace_id: str
    environment_names: Sequence[str]

    def require_environment(self, name: str) -> Any: ...


@dataclass(frozen=True)
class CallExample:
    """The example of a call in the API docs: its summary in a few words, the body (None for GET) and the answer."""

    summary: str
    response: Any
    request: Any = None


class MethodFirstView(APIView):
    """A view that refuses a wrong method before it looks at the key, as contract §1 orders.

    scope: the scope that the key must have.
    own_codes: its error codes besides those that wire.http.openapi derives from the kind of endpoint.
    links: what a client can do with the 2xx answer, as OpenAPI links.
    examples: an example for each method, GET or POST.
    """

    scope: ClassVar[str]
    examples: ClassVar[Mapping[str, CallExample]]
    own_codes: ClassVar[Sequence[str]] = ()
    links: ClassVar[Mapping[str, Any]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        method = request.method or ""
        if method.lower() not in self.http_method_names:
            raise exceptions.MethodNotAllowed(method)
        super().initial(request, *args, **kwargs)


class MachineView(MethodFirstView):
    """A POST endpoint for machines. A subclass names its form and implements `answer`.

    form: the serializer of the body; its context has the bytes of the body as `raw`.
    items: the name of the member that is the batch.
    has_secret_answer: whether the 2xx body holds a key or an intent, and so is stored encrypted.
    """

    form: ClassVar[type[serializers.Serializer[Any]]]
    items: ClassVar[str | None] = None
    has_secret_answer: ClassVar[bool] = False
    http_method_names = ["post"]
    renderer_classes = [renderers.JSONRenderer]

    def post(self, request: Request, **path: str) -> HttpResponse:
        raw = read_body(request._request)
        now = timezone.now()
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return self.process(request, raw, now, path)
        claim = Claim.check(cast(CallerKey, request.auth).workspace_id, self.name_claim(request, path), key, raw)
        return answer_once(
            claim,
            lambda: self.render(request, self.process(request, raw, now, path)),
            now=now,
            is_secret=self.has_secret_answer,
            limit_lifetime=lambda response: self.limit_answer_lifetime(cast(Response, response)),
        )

    def process(self, request: Request, raw: bytes, now: datetime, path: Mapping[str, str]) -> Response:
        data = self.check_body(raw, now)
        response = self.answer(self.find_environment(request, data), data, raw, now=now, **path)
        if self.items and response.status_code < 300:
            count_after_commit(ITEMS.labels(self.items), len(data[self.items]))
        return response

    def check_body(self, raw: bytes, now: datetime) -> Mapping[str, Any]:
        """Return the members of a valid body. Raises Problem, or ValidationError with the faults of the body."""
        body = parse_body(raw)
        if self.items:
            check_batch_size(body, self.items)
        if body is None:
            raise exceptions.ValidationError([exceptions.ErrorDetail("Send an object.", "null")])
        form = self.form(data=body, context={"raw": raw})
        if not form.is_valid():
            raise exceptions.ValidationError(form.errors)
        return cast(Mapping[str, Any], form.validated_data)

    def answer(self, environment: Any, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str) -> Response:
        """Call the domain, and store all or nothing. `data` is the checked body, `raw` are its bytes."""
        raise NotImplementedError  # every subclass answers; the base has no domain

    def limit_answer_lifetime(self, response: Response) -> datetime | None:
        """Return when this 2xx answer expires once it is stored, if that is before the usual 24 hours."""
        return None

    def name_claim(self, request: Request, path: Mapping[str, str]) -> str:
        """Return the name within which an Idempotency-Key is unique in its workspace.

        A replay does not check the environment again, so API keys with different environments share no answers.
        """
        own_names = sorted(cast(CallerKey, request.auth).environment_names)
        digest = hashlib.sha256(json.dumps(own_names).encode()).hexdigest()[:16]
        return f"{self.name_endpoint(path)}@{digest}" if own_names else self.name_endpoint(path)

    def name_endpoint(self, path: Mapping[str, str]) -> str:
        """Return the endpoint within which an Idempotency-Key is unique in its workspace."""
        return "/".join([type(self).__name__, *path.values()])

    def find_environment(self, request: Request, data: Mapping[str, Any]) -> Any:
        """Return the environment that the body names, looked up in the key's own workspace only."""
        return cast(CallerKey, request.auth).require_environment(data.get("environment", "production"))

    def render(self, request: Request, response: Response) -> Response:
        """Render inside the transaction, so that the stored bytes are the bytes that are sent."""
        self.headers = self.default_response_headers
        response = self.finalize_response(request, response)
        response.render()
        return response
