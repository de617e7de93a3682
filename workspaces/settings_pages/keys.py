"""The page of API keys: create one, which is shown once, and revoke one in two steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from wire.errors import DomainError
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.forms.set_choices import set_choices
from workspaces.keys.create import create_key
from workspaces.keys.last_use import PRECISION
from workspaces.keys.revoke import revoke_key
from workspaces.models import ApiKey, Environment, Membership
from workspaces.pages.form_answers import member_form, render_refused_form, return_to_page
from workspaces.pages.page import Page
from workspaces.pages.shown_once import keep_for_next_page, take_once

NAME = "keys"
STILL_NEW = timedelta(days=7)  # only for an older key, the page warns that it was never used
NEW_KEY = "new key"
SCOPES = {
    "report": "Report outcomes, shapes and verifications; verify intents; download",
    "platform": "Register conversations, mint intents, ask for confirmations",
    "confirm": "Decide confirmations in place of a person",
}
COLUMNS = (
    *("keyId", "name", "kind", "scopes", "environments", "createdAt", "createdBy"),
    *("lastUsedAt", "expiresAt", "revokedAt"),
)


class KeyForm(forms.Form):
    """A new key.

    everywhere: whether the key is for all environments, also those that are added later.
    """

    name = forms.CharField(max_length=ApiKey.MAX_NAME, error_messages={"required": "Say who will use it."})
    kind = forms.ChoiceField(choices=[(ApiKey.SECRET, "Secret"), (ApiKey.PUBLISHABLE, "Publishable")])
    scopes = forms.MultipleChoiceField(choices=list(SCOPES.items()), required=False)
    everywhere = forms.ChoiceField(choices=[("yes", "All"), ("no", "Only these")])
    environments = forms.MultipleChoiceField(required=False)
    expires_on = forms.DateField(required=False, error_messages={"invalid": "Enter a date as 2027-01-31."})

    def __init__(self, data: Any, environment_names: Sequence[str]) -> None:
        super().__init__(data)
        set_choices(self, "environments", [(name, name) for name in environment_names])

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("everywhere") == "no" and not values.get("environments") and "environments" not in self.errors:
            self.add_error("environments", "Choose at least one, or all environments.")
        if values.get("kind") == ApiKey.SECRET and not values.get("scopes") and "scopes" not in self.errors:
            self.add_error("scopes", "Choose at least one.")
        return values

    def key_arguments(self) -> dict[str, Any]:
        """Return the arguments of create_key."""
        day = self.cleaned_data["expires_on"]
        is_secret = self.cleaned_data["kind"] == ApiKey.SECRET
        return {
            "scopes": self.cleaned_data["scopes"] if is_secret else (),
            "kind": self.cleaned_data["kind"],
            "name": self.cleaned_data["name"],
            "environment_names": self.cleaned_data["environments"] if self.cleaned_data["everywhere"] == "no" else (),
            "expires_at": None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC),
        }


def show_keys(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show every key of the workspace, and the form that creates one."""
    return _build_page(request, environment, KeyForm(None, _list_environment_names(environment)))


@member_form(Membership.ADMIN)
@sensitive_variables("new_key")
def post_key(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Create a key and go to the page, which shows it once; with a fault, show the form again."""
    form = KeyForm(request.POST, _list_environment_names(environment))
    now = timezone.now()
    if form.is_valid():
        try:
            actor = request.user.get_username()
            new_key = create_key(environment.workspace, **form.key_arguments(), actor=actor, now=now)
        except DomainError as error:
            form.add_error(None, error.detail)
        else:
            facts = {
                "name": form.cleaned_data["name"],
                "kind": form.cleaned_data["kind"],
                "text": new_key.text,
            }
            keep_for_next_page(request, NEW_KEY, {**facts, "workspace": environment.workspace_id})
            # Without a fragment, browsers would keep that of the form.
            return return_to_page(request, NAME, environment, {}, fragment="new")
    page = _build_page(request, environment, form)
    return render_refused_form(request, page, environment, NAME)


@member_form(Membership.ADMIN)
def post_revocation(request: HttpRequest, environment: Environment, key_id: int) -> HttpResponseRedirect:
    """Revoke a key from now on."""
    key = get_object_or_404(environment.workspace.api_keys, pk=key_id)
    revoke_key(key, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, NAME, environment, {"done": str(key.pk)})


def _build_page(request: HttpRequest, environment: Environment, form: KeyForm) -> Page:
    keys = environment.workspace.api_keys.order_by("-id")

    def build_context() -> Mapping[str, Any]:
        now = timezone.now()
        revoking = request.GET.get("revoke", "")
        active = [key for key in keys if key.revoked_at is None]
        revoked = [key for key in keys if key.revoked_at is not None]
        return {
            "new_keys": take_once(request, NEW_KEY, workspace=environment.workspace_id),
            "active": [(key, key.expires_at is not None and key.expires_at <= now) for key in active],
            "new_since": now - STILL_NEW,
            "revoked": revoked,
            "revoked_now": next((key for key in revoked if str(key.pk) == request.GET.get("done")), None),
            "to_revoke": next((key for key in active if str(key.pk) == revoking), None),
            "minutes_exact": PRECISION // timedelta(minutes=1),
            "form": form,
            "scopes": [(scope, words, scope in (form["scopes"].value() or ())) for scope, words in SCOPES.items()],
            "environment_choices": [
                (name, name in (form["environments"].value() or ()))
                for name, _ in form.fields["environments"].choices  # type: ignore[attr-defined]
            ],
        }

    tables = [Table("keys", COLUMNS, lambda: export_rows(keys.iterator()))]
    return Page("workspaces/keys.html", build_context, tables, has_period=False, holds_secrets=True)


def _list_environment_names(environment: Environment) -> list[str]:
    names = environment.workspace.environments.filter(archived_at=None).values_list("name", flat=True)
    return list(names)


def export_rows(
    keys: Iterable[ApiKey], find_last_use: Callable[[ApiKey], datetime | None] = attrgetter("last_used_at")
) -> Iterator[Sequence[Any]]:
    """Yield the keys as rows of COLUMNS.

    find_last_use: returns when a key was last used; by default, when it sent its last request.
    """
    for key in keys:
        names = " ".join(key.environment_names) or "all"
        yield (
            *(key.prefix, key.name, key.kind, " ".join(key.scopes), names, key.created_at, key.created_by or None),
            *(find_last_use(key), key.expires_at, key.revoked_at),
        )
