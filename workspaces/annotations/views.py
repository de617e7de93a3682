"""The page of annotations: what happened when. Editors add, change and delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from wire.address_members import PERIOD_MEMBERS, parse_uuid, read_text
from wire.errors import InvalidRequest
from wire.time.period import Period, find_zone, parse_local_moment, parse_period
from wire.time.timestamps import is_reportable
from workspaces.access import has_role
from workspaces.annotations.annotate import (
    AnnotationText,
    add_by_hand,
    change_annotation,
    delete_annotation,
    list_values,
)
from workspaces.annotations.exports import build_annotations_table
from workspaces.annotations.queries import list_annotations, list_annotations_of_period
from workspaces.forms.late_forms import fingerprint
from workspaces.models import Annotation, Environment, Membership
from workspaces.pages.form_answers import act_and_return, member_form
from workspaces.pages.page import Page
from workspaces.pages.render import render_html

NAME = "annotations"
ROWS_PER_PAGE = 50
FORM_MEMBERS = ("text", "url", "at", "environment")
EVERYWHERE = "all"


def show_annotations(request: HttpRequest, environment: Environment, period: Period) -> Page:
    return _build_page(request, environment, period)


@member_form(Membership.EDITOR)
def post_annotation(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Add an annotation at the time `at` in the zone of the page; if `at` is empty, now."""

    def add(actor: str, now: datetime) -> Annotation:
        everywhere = request.POST.get("environment") == EVERYWHERE
        moment = _read_form_moment(request, now)
        content = _read_content(request)
        return add_by_hand(environment, content, at=moment, everywhere=everywhere, actor=actor, now=now)

    return _act_as_editor(request, environment, add)


@member_form(Membership.EDITOR)
def post_change(request: HttpRequest, environment: Environment, annotation_id: UUID) -> HttpResponse:
    """Set text, link and time of an annotation. Without `at`, or with that of the page, it keeps its time."""

    def change(actor: str, now: datetime) -> Annotation:
        annotation = _find_annotation(environment, str(annotation_id))
        stored_text = _format_form_moment(annotation.at, _find_form_zone(request)) if annotation else ""
        # The page shows no seconds, and an hour can occur twice: only another text is another time.
        is_same = request.POST.get("at", "") in ("", stored_text)
        moment = None if is_same else _read_form_moment(request, now)
        return change_annotation(
            environment, annotation_id, _read_content(request), at=moment,
            opened=read_text(request.POST, "opened"), actor=actor, now=now,
        )  # fmt: skip

    return _act_as_editor(request, environment, change, changed_id=annotation_id)


@member_form(Membership.EDITOR)
def post_deletion(request: HttpRequest, environment: Environment, annotation_id: UUID) -> HttpResponse:
    """Delete an annotation. The page has asked for confirmation."""

    def delete(actor: str, now: datetime) -> None:
        delete_annotation(environment, annotation_id, actor=actor, now=now)

    return _act_as_editor(request, environment, delete)


def _act_as_editor(
    request: HttpRequest,
    environment: Environment,
    act: Callable[[str, datetime], Annotation | None],
    *,
    changed_id: UUID | None = None,
) -> HttpResponse:
    """Require an editor and call `act`, then show the page again; after a fault, with the form as it was filled in.

    If an added or changed annotation is not in the period of the page, show its day instead.

    act: returns an added or changed annotation; raises InvalidRequest for a refused entry.
    changed_id: the annotation to change; None if the form adds or deletes one.
    """
    period = parse_period(request.GET, now=timezone.now())

    def act_and_choose_period(actor: str, now: datetime) -> Mapping[str, str | None]:
        annotation = act(actor, now)
        period_members = {name: request.GET.get(name) for name in PERIOD_MEMBERS}
        if annotation and not period.start <= annotation.at < period.end:
            day = annotation.at.astimezone(period.zone).date().isoformat()
            period_members |= {"range": None, "from": day, "to": day}
        return period_members

    build_page = partial(_build_page, request, environment, period, changed_id=changed_id)
    render = partial(render_html, period=period)
    return act_and_return(request, NAME, environment, act_and_choose_period, build_page, render=render)


def _read_content(request: HttpRequest) -> AnnotationText:
    return AnnotationText(read_text(request.POST, "text").strip(), read_text(request.POST, "url").strip())


def _read_form_moment(request: HttpRequest, now: datetime) -> datetime:
    """Return the time of the form; raises InvalidRequest."""
    text = request.POST.get("at", "")
    if not text:
        return now
    try:
        moment = parse_local_moment(text, _find_form_zone(request))
    except (ValueError, OverflowError):
        raise InvalidRequest("Enter a date and a time, as 2026-12-31T14:05.") from None
    if not is_reportable(moment, now):
        raise InvalidRequest("Enter a time between the year 2000 and one day from now.")
    return moment


def _find_form_zone(request: HttpRequest) -> ZoneInfo:
    return find_zone(request.GET.get("tz", "")) or ZoneInfo("UTC")


def _format_form_moment(moment: datetime, zone: ZoneInfo) -> str:
    """Write a time as a field of times has it."""
    return f"{moment.astimezone(zone):%Y-%m-%dT%H:%M}"


def _build_page(
    request: HttpRequest, environment: Environment, period: Period, *, fault: str = "", changed_id: UUID | None = None
) -> Page:
    def build_context() -> Mapping[str, Any]:
        to_change = _find_annotation(environment, str(changed_id or request.GET.get("change", "")))
        opened = fingerprint(list_values(to_change)) if to_change else ""
        if to_change is not None and changed_id:
            to_change.text, to_change.url = read_text(request.POST, "text"), read_text(request.POST, "url")
        rows = list_annotations_of_period(environment, period)
        return {
            "fault": fault,
            "rows": Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page")),
            "keys_by_actor": environment.workspace.index_keys_by_actor(),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "may_edit": has_role(request.user, environment.workspace, Membership.EDITOR),
            "to_change": to_change,
            "opened": opened,
            "changed_at": _read_changed_at(request, to_change, period, was_sent=bool(changed_id)) if to_change else "",
            "to_delete": _find_annotation(environment, request.GET.get("delete", "")),
            "form": {} if changed_id else {name: read_text(request.POST, name) for name in FORM_MEMBERS},
            "everywhere": EVERYWHERE,
            "max_text": Annotation.MAX_TEXT,
            "max_url": Annotation.MAX_URL,
            "first_body": _build_first_body(environment),
        }

    return Page("workspaces/annotations.html", build_context, [build_annotations_table(environment, period)])


def _read_changed_at(request: HttpRequest, annotation: Annotation, period: Period, *, was_sent: bool) -> str:
    """Return the time in the form that edits an annotation: as it was sent, or else as it is stored."""
    return read_text(request.POST, "at") if was_sent else _format_form_moment(annotation.at, period.zone)


def _build_first_body(environment: Environment) -> str:
    """Return a body to try out; an annotation that names no environment goes to production."""
    member = "" if environment.name == "production" else f'"environment": "{environment.name}", '
    return f'{{{member}"text": "Deploy 4.2"}}'


def _find_annotation(environment: Environment, id_text: str) -> Annotation | None:
    """Return the annotation that an address names; None if it names none."""
    annotation_id = parse_uuid(id_text)
    return list_annotations(environment).filter(pk=annotation_id).first() if annotation_id else None
