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


@member_form(Membership.ADMIN)
def post_alert(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Create an alert; if the form is not valid, show the form again."""
    return _save_alert(request, environment, None)


@member_form(Membership.ADMIN)
def post_alert_change(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Change an alert; if the form is not valid, show the form again."""
    return _save_alert(request, environment, get_object_or_404(environment.workspace.alerts, pk=pk))


@member_form(Membership.ADMIN)
def post_pause(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Pause an alert."""
    return _act_on_alert(request, environment, pk, alerts.pause_alert)


@member_form(Membership.ADMIN)
def post_resumption(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Resume an alert."""
    return _act_on_alert(request, environment, pk, alerts.resume_alert)


@member_form(Membership.ADMIN)
def post_deletion(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Delete an alert."""
    return _act_on_alert(request, environment, pk, alerts.delete_alert)


@sensitive_post_parameters("address")
@sensitive_variables("secret", "form")
@member_form(Membership.ADMIN)
def post_target(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Create a target, and show the secret of a webhook once. If the form is not valid, show the form again."""
    form, now = TargetForm(request.POST), timezone.now()
    if form.is_valid():
        fields = form.cleaned_data
        try:
            secret = targets.create_target(environment.workspace, **fields, actor=request.user.get_username(), now=now)
        except DomainError as error:
            form.add_error(_choose_field(error), error.detail)
        else:
            _keep_secret(request, environment, fields["name"], secret)
            target = environment.workspace.alert_targets.get(name=fields["name"].strip())
            return _redirect_to_form(request, environment, target, fragment="new" if secret else "")
    return _render_in_period(request, build_alerts_page(request, environment, target_form=form), environment, NAME)


@sensitive_post_parameters("address")
@member_form(Membership.ADMIN)
def post_target_change(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Set the name of a target, and its address unless that field is empty."""
    name, address, opened = (read_text(request.POST, member) for member in ("name", "address", "opened"))

    def change(actor: str, now: datetime) -> None:
        targets.change_target(_find_target(environment, pk), name, address, opened=opened, actor=actor, now=now)

    return _act_as_admin(request, environment, change)


@sensitive_variables("secret")
@member_form(Membership.ADMIN)
def post_rotation(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Rotate the secret of a webhook and show the new one once."""

    def rotate(actor: str, now: datetime) -> None:
        target = _find_target(environment, pk)
        _keep_secret(request, environment, target.name, rotate_webhook_secret(target, actor=actor, now=now))

    return _act_as_admin(request, environment, rotate)


@member_form(Membership.ADMIN)
def post_target_deletion(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Delete a target."""

    def delete(actor: str, now: datetime) -> None:
        targets.delete_target(_find_target(environment, pk), actor=actor, now=now)

    return _act_as_admin(request, environment, delete)


@member_form(Membership.ADMIN)
def post_test(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Send a test to a target and go to the log of its deliveries."""
    target = _find_target(environment, pk)
    url = request.build_absolute_uri(reverse(LOG, args=[environment.workspace.slug, environment.name]))
    send_test(target, environment, url=url, actor=request.user.get_username(), now=timezone.now())
    return _redirect_in_period(request, LOG, environment, {"done": "test", "target": str(target.pk)})


@member_form(Membership.ADMIN)
def post_again(request: HttpRequest, environment: Environment, pk: int) -> HttpResponse:
    """Queue a dead letter again."""
    deliveries = Delivery.objects.filter(workspace=environment.workspace, event__workspace=environment.workspace)
    delivery = get_object_or_404(deliveries.select_related("event", "target"), pk=pk)
    is_queued = send_again(delivery, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, LOG, environment, {"done": "again" if is_queued else None})


def _choose_field(error: DomainError) -> str | None:
    """Return the field of a new target's form that an error is about, address or name; None for any other error."""
    match error:
        case TargetRefused():
            return "address"
        case targets.NameRefused():
            return "name"
    return None


def _save_alert(request: HttpRequest, environment: Environment, alert: Alert | None) -> HttpResponse:
    form, now = AlertForm(request.POST, environment.workspace, alert), timezone.now()
    actor = request.user.get_username()
    if form.is_valid():
        settings = form.build_settings(f"{request.scheme}://{request.get_host()}")
        try:
            if alert is None:
                alerts.create_alert(environment.workspace, settings, actor=actor, now=now)
            else:
                opened = form.cleaned_data["opened"]
                alerts.change_alert(alert, settings, opened=opened, actor=actor, now=now)
        except DomainError as error:
            form.add_error(None, error.detail)
            if alert and (stored := environment.workspace.alerts.filter(pk=alert.pk).first()):
                data = request.POST.copy()
                data["opened"] = fingerprint(alerts.list_values(stored))  # the error says what is stored
                form.data = data
        else:
            return _redirect_in_period(request, NAME, environment, {})
    return _render_in_period(request, build_alerts_page(request, environment, form), environment, NAME)


def _act_on_alert(
    request: HttpRequest, environment: Environment, pk: int, change_alert: Callable[..., None]
) -> HttpResponse:
    def act(actor: str, now: datetime) -> None:
        change_alert(get_object_or_404(environment.workspace.alerts, pk=pk), actor=actor, now=now)

    return _act_as_admin(request, environment, act)


def _act_as_admin(request: HttpRequest, environment: Environment, act: Callable[[str, datetime], None]) -> HttpResponse:
    """Act and return to the page, with the alert form that is open; if the action is refused, show the error there."""

    def act_on_alerts(actor: str, now: datetime) -> Mapping[str, None]:
        act(actor, now)
        return {"target": None}  # `?target=5` opens the form that the action answers

    build_page = partial(build_alerts_page, request, environment)
    return act_and_return(request, NAME, environment, act_on_alerts, build_page, render=_render_in_period)


def _find_target(environment: Environment, pk: int) -> Target:
    return get_object_or_404(environment.workspace.alert_targets, pk=pk)


def _keep_secret(request: HttpRequest, environment: Environment, name: str, secret: str) -> None:
    if secret:
        keep_for_next_page(request, NEW_SECRET, {"workspace": environment.workspace_id, "name": name, "text": secret})


def _redirect_in_period(
    request: HttpRequest, name: str, environment: Environment, query: Mapping[str, str | None], *, fragment: str = ""
) -> HttpResponse:
    """Answer 303 to a page, with `query` and the period of the page with the form."""
    members = change_query(read_form_period(request, environment), query)
    return redirect_to_page(name, environment, members, fragment=fragment)


def _read_alert_members(request: HttpRequest, environment: Environment) -> QueryDict:
    """Return the query parameters of the alert form that the person was filling in.

    The request sent another form, from a page that can also show the alert form. The parameters are in the address of
    that page; if it has none, in the address to which the request was sent.
    """
    if values := read_form_members(request, environment, ALERT_MEMBERS):
        return values
    values = QueryDict(mutable=True)
    for name in ALERT_MEMBERS:
        if name in request.GET:
            values.setlist(name, request.GET.getlist(name))
    return values


def _redirect_to_form(request: HttpRequest, environment: Environment, target: Target, *, fragment: str) -> HttpResponse:
    """Answer 303 to the alert form that the person was filling in, with the new target chosen.

    If there was no such form, answer 303 to the list of targets.
    """
    members = read_form_period(request, environment)
    values = _read_alert_members(request, environment)
    if not values:
        return redirect_to_page(NAME, environment, members, fragment=fragment or "targets")
    if "kind" in values:
        values.appendlist("targets", str(target.pk))
    for name, texts in values.lists():
        members.setlist(name, texts)
    return redirect_to_page(NAME, environment, members, fragment=fragment or "alert")


def _render_in_period(request: HttpRequest, page: Page, environment: Environment, name: str) -> HttpResponse:
    """Show the page, with the period and the alert form of the page that had the form, and what this request adds."""
    members = read_form_period(request, environment)
    for member, values in (*request.GET.lists(), *_read_alert_members(request, environment).lists()):
        members.setlist(member, values)
    request.GET = QueryDict(members.urlencode())
    return render_html(request, page, environment, name, parse_period(request.GET, now=timezone.now()))
