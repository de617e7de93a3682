"""Delete annotations that a workspace no longer keeps."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from wire.batches import delete_batch
from workspaces.models import Annotation, Workspace


def find_expired_annotations(workspace: Workspace, before: datetime) -> QuerySet[Annotation]:
    return Annotation.objects.filter(workspace=workspace, at__lte=before)


def delete_expired_annotations(workspace: Workspace, before: datetime, batch: int) -> int:
    return delete_batch(find_expired_annotations(workspace, before), batch)
