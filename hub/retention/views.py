"""The retention page, for admins: for how many days each kind of data is kept, and deletions in two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from hub.retention.change_days import DaysForm, change_retention, list_days
from hub.retention.data_kinds import KINDS
from hub.retention.delete_on_request import delete_conversation, delete_user, request_workspace_deletion
from hub.retention.deletion_form import SUBJECTS, DeletionForm
from wire.address_members import read_text
from wire.errors import InvalidRequest
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.forms.late_forms import fingerprint
from workspaces.models import Environment, Membership, RetentionPolicy, Workspace
from workspaces.pages.form_answers import member_form, render_refused_form, return_to_page
from workspaces.pages.page import Page
from workspaces.pages.shown_once import keep_for_next_page, take_once

NAME = "retention"
REPORT = "deletion report"
COLUMNS = ("kind", "days", "rowsBeyond")


def show_retention(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the numbers of days, the numbers of older rows, and the forms of deletions."""
    return _build_page(request, environment, None, None)


@member_form(Membership.ADMIN)
def post_days(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Change the numbers of days, after a question if rows will be deleted; if the form is not valid, show it again."""
    workspace, form, now = environment.workspace, DaysForm(request.POST), timezone.now()
    if form.is_valid() and (
        request.POST.get("sure") == form.summary or not list_newly_expired(workspace, form.cleaned_data, now=now)
    ):
        actor, opened = request.user.get_username(), read_text(request.POST, "opened")
        try:
            is_changed = change_retention(workspace, form.cleaned_data, opened=opened, actor=actor, now=now)
        except InvalidRequest as error:
            form.add_error(None, error.detail)
        else:
            return return_to_page(request, NAME, environment, {"saved": "yes" if is_changed else "same"})
    return _render_refused(request, environment, _build_page(request, environment, form, None))


@sensitive_post_parameters()
@member_form(Membership.ADMIN)
def post_deletion(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Ask for the name to be typed; once it is, delete and show how many rows were deleted."""
    form = DeletionForm(request.POST, environment.workspace)
    if form.is_valid() and form.cleaned_data["typed"]:
        return _delete_subject(request, environment, form, now=timezone.now())
    return _render_refused(request, environment, _build_page(request, environment, None, form))


def _delete_subject(
    request: HttpRequest, environment: Environment, form: DeletionForm, *, now: datetime
) -> HttpResponse:
    workspace, actor = environment.workspace, request.user.get_username()
    subject, name = form.cleaned_data["subject"], form.cleaned_data["name"]
    if subject == "workspace":
        request_workspace_deletion(workspace, actor=actor, now=now)
        return render(request, "hub/workspace_deleted.html", {"name": workspace.name})
    if subject == "user":
        rows = delete_user(workspace, name, actor=actor, now=now)
    else:
        rows = delete_conversation(workspace, name, form.environment_names, actor=actor, now=now)
    keep_for_next_page(request, REPORT, {"workspace": workspace.pk, "subject": SUBJECTS[subject], "rows": rows})
    return _return_to_deletions(request, environment)


def _return_to_deletions(request: HttpRequest, environment: Environment) -> HttpResponseRedirect:
    return return_to_page(request, NAME, environment, {}, fragment="deletions")


def _render_refused(request: HttpRequest, environment: Environment, page: Page) -> HttpResponse:
    return render_refused_form(request, page, environment, NAME)


def _build_page(
    request: HttpRequest, environment: Environment, days: DaysForm | None, deletion: DeletionForm | None
) -> Page:
    workspace = environment.workspace
    policy = RetentionPolicy.objects.filter(workspace=workspace).first()

    def build_context() -> Mapping[str, Any]:
        reports = take_once(request, REPORT, workspace=workspace.pk)
        has_second_step = deletion is not None and not deletion.errors.keys() - {"typed"}
        valid_days = days if days and days.is_valid() else None
        opened = fingerprint(list_days(policy))
        if days and not days.non_field_errors():  # a question or a wrong number: later changes still count
            opened = read_text(request.POST, "opened")
        expired = list_newly_expired(workspace, valid_days.cleaned_data, now=timezone.now()) if valid_days else []
        return {
            "saved": request.GET.get("saved", ""),
            "opened": opened,
            "faults": days.non_field_errors() if days else (),
            "newly_expired": expired,
            "sure": valid_days.summary if valid_days else "",
            "kinds": list(_describe_kinds(workspace, policy, days)),
            "subjects": SUBJECTS,
            "deletion": deletion,
            "rows_to_delete": label_tables(deletion.count_rows()) if deletion and has_second_step else [],
            "has_second_step": has_second_step,
            "reports": [(report, label_tables(report["rows"])) for report in reports],
        }

    tables = [Table("retention", COLUMNS, lambda: _export_rows(workspace, policy))]
    return Page("hub/retention.html", build_context, tables, has_period=False, holds_secrets=True)


def list_newly_expired(workspace: Workspace, days: Mapping[str, int | None], *, now: datetime) -> list[tuple[str, int]]:
    """Return how many more rows would be deleted with new numbers of days, by the label of their kind."""
    before = RetentionPolicy.objects.filter(workspace=workspace).first()
    after = RetentionPolicy(workspace=workspace, **days)
    changed_kinds = [kind for kind in KINDS if kind.days(after) != kind.days(before)]
    counts = [
        kind.count_expired(workspace, after, now=now) - kind.count_expired(workspace, before, now=now)
        for kind in changed_kinds
    ]
    return [(kind.label, count) for kind, count in zip(changed_kinds, counts, strict=True) if count > 0]


def label_tables(rows: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the counts of rows by table, each with the name of its rows in words, sorted."""
    labels = {model._meta.db_table: str(model._meta.verbose_name_plural) for model in apps.get_models()}
    return sorted((labels[table].capitalize(), count) for table, count in rows.items())


def _describe_kinds(
    workspace: Workspace, policy: RetentionPolicy | None, form: DaysForm | None
) -> Iterator[Mapping[str, Any]]:
    for kind in KINDS:
        yield {
            "kind": kind,
            "days": form[kind.name].value() if form else getattr(policy, kind.name, None),
            "faults": form[kind.name].errors if form else (),
            "expired": kind.count_expired(workspace, policy, now=timezone.now()),
        }


def _export_rows(workspace: Workspace, policy: RetentionPolicy | None) -> Iterator[Sequence[Any]]:
    for kind in KINDS:
        expired_count = kind.count_expired(workspace, policy, now=timezone.now())
        yield kind.name, kind.days(policy), expired_count
