"""The share of calls that are still of version 1, for the page of environments."""

from __future__ import annotations

from django import template
from django.utils import timezone

from intents.rejections.queries import VersionCounts
from intents.rejections.queries import count_versions as count_versions_of
from workspaces.models import Workspace

register = template.Library()


@register.simple_tag
def count_versions(workspace: Workspace) -> VersionCounts:
    """Count the accepted calls of a workspace in the last 7 days by version."""
    return count_versions_of(workspace, now=timezone.now())
