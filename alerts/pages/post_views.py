"""The POST views of the alerts pages: act as an admin, then show the page again.

After a test, or when a dead letter is queued again, they show the log of deliveries instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from alerts.addresses.webhook_address import TargetRefused
from alerts.models import Alert, Delivery, Target
from alerts.pages.forms import AlertForm, TargetForm
from alerts.pages.views import ALERT_MEMBERS, LOG, NAME, NEW_SECRET, build_alerts_page
from alerts.setup import alerts, targets
from alerts.setup.rotate_webhook_secret import rotate_webhook_secret
from alerts.setup.send_again import send_again
from alerts.setup.send_test_message import send_test
from wire.address_members import change_query, read_text
from wire.errors import DomainError
from wire.time.period import parse_period
from workspaces.access import require_member_environment
from workspaces.forms.late_forms import fingerprint
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import (
    act_and_return,
    member_form,
    read_form_members,
    read_form_period,
    redirect_to_page,
    return_to_page,
)
from workspaces.pages.page import Page
from workspaces.pages.render import render_html
from workspaces.pages.shown_once import keep_for_next_page


@member_form
def post_alert(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Create an alert; if the form is not valid, show the form again."""
    return _save_alert(request, _require_admin(request, slug, environment), None)


@member_form
def post_alert_change(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Change an alert; if the form is not valid, show the form again."""
    row = _require_admin(request, slug, environment)
    return _save_alert(request, row, get_object_or_404(row.workspace.alerts, pk=pk))


@member_form
def post_pause(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Pause an alert."""
    return _act_on_alert(request, slug, environment, pk, alerts.pause_alert)


@member_form
def post_resumption(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Resume an alert."""
    return _act_on_alert(request, slug, environment, pk, alerts.resume_alert)


@member_form
def post_deletion(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Delete an alert."""
    return _act_on_alert(request, slug, environment, pk, alerts.delete_alert)


@sensitive_post_parameters("address")
@sensitive_variables("secret", "form")
@member_form
def post_target(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Create a target, and show the secret of a webhook once. If the form is not valid, show the form again."""
    row = _require_admin(request, slug, environment)
    form, now = TargetForm(request.POST), timezone.now()
    if form.is_valid():
        fields = form.cleaned_data
        try:
            secret = targets.create_target(row.workspace, **fields, actor=request.user.get_username(), now=now)
        except DomainError as error:
            form.add_error(_choose_field(error), error.detail)
        else:
            _keep_secret(request, row, fields["name"], secret)
            target = row.workspace.alert_targets.get(name=fields["name"].strip())
            return _redirect_to_form(request, row, target, fragment="new" if secret else "")
    return _render_in_period(request, build_alerts_page(request, row, target_form=form), row, NAME)


@sensitive_post_parameters("address")
@member_form
def post_target_change(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Set the name of a target, and its address unless that field is empty."""
    name, address, opened = (read_text(request.POST, member) for member in ("name", "address", "opened"))

    def change(row: Environment, actor: str, now: datetime) -> None:
        targets.change_target(_find_target(row, pk), name, address, opened=opened, actor=actor, now=now)

    return _act_as_admin(request, slug, environment, change)


@sensitive_variables("secret")
@member_form
def post_rotation(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Rotate the secret of a webhook and show the new one once."""

    def rotate(row: Environment, actor: str, now: datetime) -> None:
        target = _find_target(row, pk)
        _keep_secret(request, row, target.name, rotate_webhook_secret(target, actor=actor, now=now))

    return _act_as_admin(request, slug, environment, rotate)


@member_form
def post_target_deletion(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Delete a target."""

    def delete(row: Environment, actor: str, now: datetime) -> None:
        targets.delete_target(_find_target(row, pk), actor=actor, now=now)

    return _act_as_admin(request, slug, environment, delete)


@member_form
def post_test(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Send a test to a target and go to the log of its deliveries."""
    row = _require_admin(request, slug, environment)
    target = _find_target(row, pk)
    url = request.build_absolute_uri(reverse(LOG, args=[row.workspace.slug, row.name]))
    send_test(target, row, url=url, actor=request.user.get_username(), now=timezone.now())
    return _redirect_in_period(request, LOG, row, {"done": "test", "target": str(target.pk)})


@member_form
def post_again(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponse:
    """Queue a dead letter again."""
    row = _require_admin(request, slug, environment)
    deliveries = Delivery.objects.filter(workspace=row.workspace, event__workspace=row.workspace)
    delivery = get_object_or_404(deliveries.select_related("event", "target"), pk=pk)
    is_queued = send_again(delivery, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, LOG, row, {"done": "again" if is_queued else None})


def _choose_field(error: DomainError) -> str | None:
    """Return the field of a new target's form that an error is about, address or name; None for any other error."""
    match error:
        case TargetRefused():
            return "address"
        case targets.NameRefused():
            return "name"
    return None


def _save_alert(request: HttpRequest, row: Environment, alert: Alert | None) -> HttpResponse:
    form, now = AlertForm(request.POST, row.workspace, alert), timezone.now()
    actor = request.user.get_username()
    if form.is_valid():
        settings = form.build_settings(f"{request.scheme}://{request.get_host()}")
        try:
            if alert is None:
                alerts.create_alert(row.workspace, settings, actor=actor, now=now)
            else:
                opened = form.cleaned_data["opened"]
                alerts.change_alert(alert, settings, opened=opened, actor=actor, now=now)
        except DomainError as error:
            form.add_error(None, error.detail)
            if alert and (stored := row.workspace.alerts.filter(pk=alert.pk).first()):
                data = request.POST.copy()
                data["opened"] = fingerprint(alerts.list_values(stored))  # the error says what is stored
                form.data = data
        else:
            return _redirect_in_period(request, NAME, row, {})
    return _render_in_period(request, build_alerts_page(request, row, form), row, NAME)


def _act_on_alert(
    request: HttpRequest, slug: str, environment: str, pk: int, change_alert: Callable[..., None]
) -> HttpResponse:
    def act(row: Environment, actor: str, now: datetime) -> None:
        change_alert(get_object_or_404(row.workspace.alerts, pk=pk), actor=actor, now=now)

    return _act_as_admin(request, slug, environment, act)


def _act_as_admin(
    request: HttpRequest, slug: str, environment: str, act: Callable[[Environment, str, datetime], None]
) -> HttpResponse:
    """Act and return to the page, with the alert form that is open; if the action is refused, show the error there."""
    row = _require_admin(request, slug, environment)

    def act_on_alerts(actor: str, now: datetime) -> Mapping[str, None]:
        act(row, actor, now)
        return {"target": None}  # `?target=5` opens the form that the action answers

    build_page = partial(build_alerts_page, request, row)
    return act_and_return(request, NAME, row, act_on_alerts, build_page, render=_render_in_period)


def _find_target(row: Environment, pk: int) -> Target:
    return get_object_or_404(row.workspace.alert_targets, pk=pk)


def _keep_secret(request: HttpRequest, row: Environment, name: str, secret: str) -> None:
    if secret:
        keep_for_next_page(request, NEW_SECRET, {"workspace": row.workspace_id, "name": name, "text": secret})


def _require_admin(request: HttpRequest, slug: str, environment: str) -> Environment:
    return require_member_environment(request, slug, environment, role=Membership.ADMIN)


def _redirect_in_period(
    request: HttpRequest, name: str, row: Environment, query: Mapping[str, str | None], *, fragment: str = ""
) -> HttpResponse:
    """Answer 303 to a page, with `query` and the period of the page with the form."""
    return redirect_to_page(name, row, change_query(read_form_period(request, row), query), fragment=fragment)


def _read_alert_members(request: HttpRequest, row: Environment) -> QueryDict:
    """Return the query parameters of the alert form that the person was filling in.

    The request sent another form, from a page that can also show the alert form. The parameters are in the address of
    that page; if it has none, in the address to which the request was sent.
    """
    if values := read_form_members(request, row, ALERT_MEMBERS):
        return values
    values = QueryDict(mutable=True)
    for name in ALERT_MEMBERS:
        if name in request.GET:
            values.setlist(name, request.GET.getlist(name))
    return values


def _redirect_to_form(request: HttpRequest, row: Environment, target: Target, *, fragment: str) -> HttpResponse:
    """Answer 303 to the alert form that the person was filling in, with the new target chosen.

    If there was no such form, answer 303 to the list of targets.
    """
    members = read_form_period(request, row)
    values = _read_alert_members(request, row)
    if not values:
        return redirect_to_page(NAME, row, members, fragment=fragment or "targets")
    if "kind" in values:
        values.appendlist("targets", str(target.pk))
    for name, texts in values.lists():
        members.setlist(name, texts)
    return redirect_to_page(NAME, row, members, fragment=fragment or "alert")


def _render_in_period(request: HttpRequest, page: Page, row: Environment, name: str) -> HttpResponse:
    """Show the page, with the period and the alert form of the page that had the form, and what this request adds."""
    members = read_form_period(request, row)
    for member, values in (*request.GET.lists(), *_read_alert_members(request, row).lists()):
        members.setlist(member, values)
    request.GET = QueryDict(members.urlencode())
    return render_html(request, page, row, name, parse_period(request.GET, now=timezone.now()))
