"""Merge operations by template rules, undo this, and read what is shown then, for tests."""

from __future__ import annotations

import json
from typing import Any

from django.utils import timezone

from catalog.downloads import documents
from catalog.downloads.catalog_digests import find_catalog_digest
from catalog.models import TemplateRule
from catalog.operation_queries import visible_operations
from catalog.rules.template_rules import add_template_rule, undo_template_rule
from workspaces.models import Environment

AT = 1_790_000_000
RED, BLUE = "/shops/red/{itemId}", "/shops/blue/{itemId}"
SHOP = "/shops/{shop}/{item}"


def merge(environment: Environment, source: str, target: str, **options: Any) -> TemplateRule:
    return add_template_rule(environment, source, target, actor="ann", now=timezone.now(), **options)


def undo(rule: TemplateRule) -> None:
    undo_template_rule(rule, actor="ann", now=timezone.now())


def read_catalog(environment: Environment) -> list[Any]:
    rendered = documents.render_catalog(environment, evidence=True)
    return json.loads(b"".join(rendered.read_chunks()))["operations"]


def list_everything(environment: Environment) -> list[Any]:
    """Return all that pages and downloads show of an environment, except its name."""
    columns = ("method", "path", "observations", "statuses", "properties", "undecided", "first_seen_at",
               "last_seen_at", "unknowns", "search", "document", "outline", "names", "types")  # fmt: skip
    rows = [
        list(map(str, row)) for row in visible_operations(environment).order_by("path", "method").values_list(*columns)
    ]
    digests = [find_catalog_digest(environment, evidence=evidence) for evidence in (True, False)]
    return [*rows, *digests]
