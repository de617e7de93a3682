"""The form of a new workspace."""

from __future__ import annotations

import re

from django import forms


class WorkspaceForm(forms.Form):
    """A new workspace, and its environments besides production."""

    name = forms.CharField(max_length=100, error_messages={"required": "Enter a name."})
    environments = forms.CharField(required=False)

    def clean_environments(self) -> list[str]:
        """Return the names between commas or white space, in their order, without repetition."""
        return list(dict.fromkeys(re.findall(r"[^\s,]+", self.cleaned_data["environments"])))
