"""The forms of alerts and targets, and the words of their choices. A page's address can hold an alert form's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Q

from alerts.addresses.webhook_address import MAX_LENGTH
from alerts.models import MAX_NAME, Alert, Target
from alerts.rules import silences
from alerts.rules.alert_descriptions import SPANS
from alerts.rules.new_reasons import NEW_AGAIN_AFTER
from alerts.rules.thresholds import Thresholds
from alerts.setup.alerts import AlertSettings, list_values
from wire.format_numbers import format_decimal
from workspaces.environments.change import DEFAULT_NAME
from workspaces.forms.late_forms import fingerprint
from workspaces.forms.set_choices import set_choices
from workspaces.models import Environment, Workspace

KINDS = {
    Alert.DRIFT: ("Breaking drift", "A change of an operation breaks its consumers or producers."),
    Alert.NEW_REASON: (
        "New rejection reason",
        f"Calls are rejected for a reason not seen in the {NEW_AGAIN_AFTER.days} days before.",
    ),
    Alert.REJECTIONS: ("Jump of rejected calls", "Their share of all verified calls is far above the usual."),
    Alert.BROKEN_JOINS: ("Jump of broken joins", "Their share of all reported outcomes is far above the usual."),
    Alert.SILENT: (
        "Silent reporter",
        f"A reporter of shapes is silent for longer than in the {silences.HISTORY.days} days before.",
    ),
}
SPIKE_SPANS = (15, 60, 240, 1440)
SILENT_SPANS = (60, 240, 1440, 10080)
MAX_MINIMUM = 1_000_000_000
JUMPS = (Alert.REJECTIONS, Alert.BROKEN_JOINS)
# The numbers of the form, and which kinds use them
NUMBERS = {
    "reason_minimum": (Alert.NEW_REASON,),
    "minimum": JUMPS,
    "minutes": JUMPS,
    "percent": JUMPS,
    "factor": JUMPS,
    "silent_minutes": (Alert.SILENT,),
}
MESSAGES = {"invalid": "Enter a number.", "required": "Enter a number."}


class AlertForm(forms.Form):
    """The form of an alert: what to watch, the thresholds from which it fires, and whom to notify.

    It offers the environments that are not archived. An alert that is changed may also keep its own.

    opened: the fingerprint of the stored alert when the form was opened; empty for a new alert.
    """

    kind = forms.ChoiceField(choices=[(kind, words[0]) for kind, words in KINDS.items()])
    environment = forms.ChoiceField()
    targets = forms.MultipleChoiceField(error_messages={"required": "Choose at least one target."})
    reason_minimum = forms.IntegerField(min_value=1, max_value=MAX_MINIMUM, error_messages=MESSAGES)
    minimum = forms.IntegerField(min_value=1, max_value=MAX_MINIMUM, error_messages=MESSAGES)
    minutes = forms.TypedChoiceField(choices=[(span, SPANS[span]) for span in SPIKE_SPANS], coerce=int)
    percent = forms.FloatField(min_value=0, max_value=100, error_messages=MESSAGES)
    factor = forms.FloatField(min_value=1, max_value=1000, error_messages=MESSAGES)
    silent_minutes = forms.TypedChoiceField(choices=[(span, SPANS[span]) for span in SILENT_SPANS], coerce=int)
    opened = forms.CharField(required=False)

    def __init__(self, data: Any, workspace: Workspace, alert: Alert | None = None) -> None:
        super().__init__(data)
        offered = Q(archived_at=None) | Q(pk=alert.environment_id if alert else None)
        self.environments = {row.name: row for row in workspace.environments.filter(offered)}
        self.target_choices = list(workspace.alert_targets.order_by("name", "id"))
        set_choices(self, "environment", [(name, name) for name in self.environments])
        set_choices(self, "targets", [(str(target.pk), target.name) for target in self.target_choices])

    def clean(self) -> dict[str, Any]:
        """Drop the errors of numbers that the chosen kind does not use, because their fields are hidden."""
        values: dict[str, Any] = super().clean() or {}
        if "kind" in values:
            for name in NUMBERS.keys() - {name for name, kinds in NUMBERS.items() if values["kind"] in kinds}:
                self.errors.pop(name, None)
        return values

    @property
    def can_preview(self) -> bool:
        """Return whether all fields that a preview needs are valid: every field except the targets."""
        return self.is_bound and not self.errors.keys() - {"targets"}

    @property
    def minimum_field(self) -> str:
        """Return the name of the field for the least number of cases, "" if the chosen kind has none."""
        kind = self.cleaned_data["kind"]
        return next((name for name in ("reason_minimum", "minimum") if kind in NUMBERS[name]), "")

    def write_query(self, changes: Mapping[str, Any]) -> str:
        """Return the query of an address that shows this form with changed values."""
        members = {name: self[name].value() for name in self.fields if self[name].value()}
        return urlencode({**members, **changes}, doseq=True)

    @property
    def chosen_environment(self) -> Environment:
        return self.environments[self.cleaned_data["environment"]]

    @property
    def thresholds(self) -> Thresholds:
        """Return the numbers that the kind uses; the others have their defaults, so that they change nothing."""
        fields = self.cleaned_data
        if fields["kind"] == Alert.NEW_REASON:
            return Thresholds(minimum=fields["reason_minimum"])
        if fields["kind"] == Alert.SILENT:
            return Thresholds(minutes=fields["silent_minutes"], minimum=silences.LEAST_QUARTERS)
        if fields["kind"] == Alert.DRIFT:
            return Thresholds()
        return Thresholds(fields["minutes"], fields["minimum"], fields["percent"], fields["factor"])

    def build_settings(self, origin: str) -> AlertSettings:
        target_ids = [int(target) for target in self.cleaned_data["targets"]]
        return AlertSettings(self.chosen_environment, self.cleaned_data["kind"], self.thresholds, target_ids, origin)


def default_values(environment: Environment, targets: Sequence[Target]) -> Mapping[str, Any]:
    """Return the initial values of the form for a new alert, which cannot watch an archived environment."""
    thresholds = Thresholds()
    return {
        "kind": Alert.DRIFT,
        "environment": environment.name if environment.archived_at is None else DEFAULT_NAME,
        "targets": [str(target.pk) for target in targets[:1]],
        "reason_minimum": 1,
        "minimum": thresholds.minimum,
        "minutes": thresholds.minutes,
        "percent": format_decimal(thresholds.percent),
        "factor": format_decimal(thresholds.factor),
        "silent_minutes": SILENT_SPANS[0],
        "opened": "",
    }


def stored_values(alert: Alert, targets: Sequence[Target]) -> Mapping[str, Any]:
    """Return the initial values of the form for a stored alert."""
    values: dict[str, Any] = {
        **default_values(alert.environment, targets),
        "kind": alert.kind,
        "environment": alert.environment.name,
        "targets": [str(target) for target in alert.target_ids],
        "opened": fingerprint(list_values(alert)),
    }
    if alert.kind == Alert.NEW_REASON:
        return {**values, "reason_minimum": alert.minimum}
    if alert.kind == Alert.SILENT:
        return {**values, "silent_minutes": alert.minutes}
    if alert.kind == Alert.DRIFT:
        return values
    numbers = {"percent": format_decimal(alert.percent), "factor": format_decimal(alert.factor)}
    return {**values, "minimum": alert.minimum, "minutes": alert.minutes, **numbers}


class TargetForm(forms.Form):
    """A new target. Its address is checked when it is saved."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in Target.KINDS])
    name = forms.CharField(max_length=MAX_NAME, error_messages={"required": "Enter a name."})
    address = forms.CharField(max_length=MAX_LENGTH, error_messages={"required": "Enter an address."})
