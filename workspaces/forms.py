"""The forms of the pages of workspaces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django import forms


def set_choices(form: forms.Form, name: str, choices: Sequence[tuple[str, str]]) -> None:
    """Set choices of a form's field that depend on the workspace. Raises TypeError if the field has no choices."""
    field = form.fields[name]
    if not isinstance(field, forms.ChoiceField):
        raise TypeError(f"{name} is no field of choices")
    field.choices = choices


class WorkspaceForm(forms.Form):
    """A new workspace, and its environments besides production."""

    name = forms.CharField(max_length=100, error_messages={"required": "Enter a name."})
    environments = forms.CharField(required=False)

    def clean_environments(self) -> list[str]:
        """Return the names between commas or white space, in their order, without repetition."""
        return list(dict.fromkeys(re.findall(r"[^\s,]+", self.cleaned_data["environments"])))
