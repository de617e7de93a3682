"""The face of every machine endpoint: contract 1's order of checks, then the domain's verb."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import exceptions, renderers, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from wire.http import body
from wire.http.fields import MAX_ITEMS
from wire.http.problems import Problem
from wire.redelivery import idempotency


class MachineView(APIView):
    """A POST endpoint for machines. A subclass gives its form and answers a checked body in `answer`.

    scope: what the key must be allowed; form: the serializer of the body, whose bytes are `raw` in its context;
    items: the member that is the batch; secret_answer: the 2xx body holds a key or an intent, so that it is kept
    encrypted.
    """

    scope: ClassVar[str]
    form: ClassVar[type[serializers.Serializer]]
    items: ClassVar[str | None] = None
    secret_answer: ClassVar[bool] = False
    http_method_names = ["post"]
    renderer_classes = [renderers.JSONRenderer]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method.lower() not in self.http_method_names:
            raise exceptions.MethodNotAllowed(request.method)
        super().initial(request, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Whoever has a key is told why, however large the body: strangers get an answer, and no time."""
        if getattr(self.request, "_auth", None):
            body.discard(self.request._request)
        return super().handle_exception(exc)

    def post(self, request: Request, **path: str) -> HttpResponse:
        raw = body.read(request._request)
        now = timezone.now()
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return self.respond(request, raw, now, path)
        claim = idempotency.Claim.of(request.auth.workspace_id, self.endpoint(path), key, raw)
        return idempotency.once(
            claim,
            lambda: self.rendered(request, self.respond(request, raw, now, path)),
            now=now,
            secret=self.secret_answer,
            until=self.kept_until(now),
        )

    def respond(self, request: Request, raw: bytes, now: datetime, path: Mapping[str, str]) -> Response:
        form = self.form(data=body.parsed(raw), context={"raw": raw})
        if not form.is_valid():
            raise exceptions.ValidationError(form.errors)
        data = form.validated_data
        self.check_batch_size(data)
        environment = self.environment(request, data)
        return self.answer(environment, data, raw, now=now, **path)

    def answer(self, environment: Any, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str) -> Response:
        """Call the domain's verb. `data` is checked; `raw` are the bytes of the body; all or nothing is stored."""
        raise NotImplementedError  # every subclass answers; the base has no domain

    def kept_until(self, now: datetime) -> datetime | None:
        """When a kept answer must go, where that is before 24 hours."""
        return None

    def endpoint(self, path: Mapping[str, str]) -> str:
        """What an Idempotency-Key is scoped by besides the workspace."""
        return "/".join([type(self).__name__, *path.values()])

    def check_batch_size(self, data: Mapping[str, Any]) -> None:
        received = len(data[self.items]) if self.items else 0
        if received > MAX_ITEMS:
            detail = f"Send at most {MAX_ITEMS} items in one request; split the batch. Nothing was stored."
            raise Problem("batch-too-large", detail, extra={"limit": MAX_ITEMS, "received": received})

    def environment(self, request: Request, data: Mapping[str, Any]) -> Any:
        """The environment that the body names, looked up in the key's own workspace only."""
        return request.auth.require_environment(data.get("environment", "production"))

    def rendered(self, request: Request, response: Response) -> HttpResponse:
        """Render inside the transaction, so that what is kept are the bytes that are sent."""
        self.headers = self.default_response_headers
        response = self.finalize_response(request, response)
        return response.render()
