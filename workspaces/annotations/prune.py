"""Find annotations that a workspace no longer keeps; `hub.retention` deletes them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from workspaces.models import Annotation, Workspace


def find_expired_annotations(workspace: Workspace, before: datetime) -> QuerySet[Annotation]:
    return Annotation.objects.filter(workspace=workspace, at__lte=before)
