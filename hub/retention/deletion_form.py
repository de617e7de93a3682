"""The form of a deletion on the retention page: what to delete, and in step 2 its name, typed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from intents.gate.delete_user import count_user
from outcomes.ingest.delete_conversation import count_conversation
from workspaces.forms.set_choices import set_choices
from workspaces.models import Workspace

SUBJECTS = {"conversation": "Conversation", "user": "User", "workspace": "Workspace"}


class DeletionForm(forms.Form):
    """The form of a deletion.

    name: the conversation id, the user's sub or the workspace's name.
    environment: the environment of a conversation, "" for all environments.
    typed: the name as it was typed again in step 2.
    """

    subject = forms.ChoiceField(choices=list(SUBJECTS.items()))
    name = forms.CharField(max_length=255, strip=False, error_messages={"required": "Say what to delete."})
    environment = forms.ChoiceField(required=False)
    typed = forms.CharField(max_length=255, strip=False, required=False)

    def __init__(self, data: Any, workspace: Workspace) -> None:
        super().__init__(data)
        self.workspace = workspace
        names = workspace.environments.values_list("name", flat=True)
        set_choices(self, "environment", [("", "All"), *((name, name) for name in names)])

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        typed_name = values.get("typed")
        if typed_name and typed_name != values.get("name"):
            self.add_error("typed", "This is not the same. Nothing was deleted.")
        if values.get("subject") == "workspace" and values.get("name") not in (None, self.workspace.name):
            self.add_error("name", "This page deletes only the workspace that it belongs to.")
        return values

    @property
    def environment_names(self) -> list[str]:
        name = self.cleaned_data.get("environment")
        return [name] if name else []

    @property
    def only_environment(self) -> str:
        """Return the only environment from which a conversation is deleted; "" for all, and for other subjects."""
        return self.cleaned_data["environment"] if self.cleaned_data["subject"] == "conversation" else ""

    def count_rows(self) -> Mapping[str, int]:
        """Return how many rows each table would lose; {} for a workspace, which is not counted beforehand."""
        subject, name = self.cleaned_data["subject"], self.cleaned_data["name"]
        if subject == "conversation":
            return count_conversation(self.workspace, name, self.environment_names)
        return count_user(self.workspace, name) if subject == "user" else {}
