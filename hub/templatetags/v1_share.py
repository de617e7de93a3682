"""The share of calls that are still of version 1, for the page of environments."""

from __future__ import annotations

from django import template
from django.utils import timezone

from intents.rejections import accepted_versions
from intents.rejections.accepted_versions import VersionCounts
from workspaces.models import Environment, Workspace

register = template.Library()


@register.simple_tag
def count_versions(workspace: Workspace) -> VersionCounts:
    """Count the accepted calls of a workspace in the last 7 days by version."""
    return accepted_versions.count_versions(workspace, now=timezone.now())


@register.simple_tag
def count_version_1_by_environment(workspace: Workspace) -> list[tuple[Environment, VersionCounts]]:
    """Count the accepted calls of the last 7 days by version, in each environment that still has version 1."""
    counts = accepted_versions.count_versions_by_environment(workspace, now=timezone.now())
    rows = [row for row in workspace.environments.order_by("id") if row.pk in counts]
    return [(row, counts[row.pk]) for row in rows if counts[row.pk].v1]
