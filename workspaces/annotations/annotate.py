"""Add, change and delete annotations. The audit log records what people do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from wire.errors import InvalidRequest, NotFound
from workspaces.annotations.web_address import UNFIT_ADDRESS, is_web_address
from workspaces.audit.record import record_audit
from workspaces.forms.late_forms import require_unchanged
from workspaces.models import Annotation, Environment


@dataclass(frozen=True)
class AnnotationText:
    """The text of an annotation, 1 to 200 characters, and its web address if it has one."""

    text: str
    url: str = ""

    def check(self) -> None:
        """Raise InvalidRequest unless text and address are valid."""
        if not 1 <= len(self.text) <= Annotation.MAX_TEXT:
            raise InvalidRequest(f"Write 1 to {Annotation.MAX_TEXT} characters.")
        if len(self.url) > Annotation.MAX_URL:
            raise InvalidRequest(f"A link has at most {Annotation.MAX_URL:,} characters.")
        if self.url and not is_web_address(self.url):
            raise InvalidRequest(UNFIT_ADDRESS)


@transaction.atomic
def add_annotation(
    environment: Environment, content: AnnotationText, *, at: datetime, everywhere: bool, actor: str, now: datetime
) -> Annotation:
    """Add an annotation of one environment, or of all environments of its workspace.

    Raises InvalidRequest or EnvironmentRemoved.
    """
    content.check()
    environment.hold()
    return Annotation.objects.create(
        workspace_id=environment.workspace_id,
        environment=None if everywhere else environment,
        at=at,
        text=content.text,
        url=content.url,
        created_at=now,
        created_by=actor,
    )


@transaction.atomic
def add_by_hand(
    environment: Environment, content: AnnotationText, *, at: datetime, everywhere: bool, actor: str, now: datetime
) -> Annotation:
    """Add an annotation as a member does, with an audit entry; raises InvalidRequest or EnvironmentRemoved."""
    annotation = add_annotation(environment, content, at=at, everywhere=everywhere, actor=actor, now=now)
    record_audit(annotation.workspace_id, "annotation added", _list_annotation_facts(annotation), actor=actor, now=now)
    return annotation


@transaction.atomic
def change_annotation(
    environment: Environment,
    annotation_id: UUID,
    content: AnnotationText,
    *,
    at: datetime | None = None,
    opened: str = "",
    actor: str,
    now: datetime,
) -> Annotation:
    """Set text and link, and the time unless it is None; return the annotation.

    opened: the fingerprint of the values that the form was opened with.

    Raises InvalidRequest, or NotFound if this environment has no such annotation.
    """
    annotation = _lock_annotation(environment, annotation_id)
    before, moment_before = AnnotationText(annotation.text, annotation.url), annotation.at
    moment = at or moment_before
    sent_values = {"text": content.text, "link": content.url, "time": moment}
    require_unchanged(opened, list_values(annotation), sent_values)
    content.check()
    if (before, moment_before) == (content, moment):
        return annotation
    annotation.text, annotation.url, annotation.at = content.text, content.url, moment
    annotation.save(update_fields=["text", "url", "at"])
    facts = _list_annotation_facts(annotation)
    if content.text != before.text:
        facts["before"] = before.text
    if moment != moment_before:
        facts["beforeAt"] = moment_before.isoformat()
    record_audit(annotation.workspace_id, "annotation changed", facts, actor=actor, now=now)
    return annotation


def list_values(annotation: Annotation) -> dict[str, Any]:
    """Return what the form of an annotation changes."""
    return {"text": annotation.text, "link": annotation.url, "time": annotation.at}


@transaction.atomic
def delete_annotation(environment: Environment, annotation_id: UUID, *, actor: str, now: datetime) -> None:
    """Delete an annotation; raises NotFound if this environment has no such annotation."""
    annotation = _lock_annotation(environment, annotation_id)
    Annotation.objects.filter(workspace_id=annotation.workspace_id, pk=annotation.pk).delete()
    record_audit(
        annotation.workspace_id, "annotation deleted", _list_annotation_facts(annotation), actor=actor, now=now
    )


def _lock_annotation(environment: Environment, annotation_id: UUID) -> Annotation:
    annotations = Annotation.objects.filter(workspace_id=environment.workspace_id, pk=annotation_id)
    annotation = annotations.select_related("environment").select_for_update(of=("self",)).first()
    if annotation is None or annotation.environment not in (None, environment):
        raise NotFound("This annotation was deleted in the meantime.")
    return annotation


def _list_annotation_facts(annotation: Annotation) -> dict[str, str]:
    name = annotation.environment.name if annotation.environment else "all"
    return {"annotation": annotation.text, "at": annotation.at.isoformat(), "environment": name}
