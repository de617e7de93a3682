"""Answer machines in JSON whatever their Accept header says, so that errors reach every machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

Renderer = TypeVar("Renderer", bound=BaseRenderer)


class FirstRenderer(BaseContentNegotiation):
    """Always choose the first renderer and the first parser."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[Renderer], format_suffix: str | None = None
    ) -> tuple[Renderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
