"""Machines get JSON whatever they accept: an error must reach a caller who asks for something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class FirstRenderer(BaseContentNegotiation):
    """The first renderer and the first parser, always."""

    def select_parser(self, request: Request, parsers: Sequence[Any]) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Sequence[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type
