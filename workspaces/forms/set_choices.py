"""The choices of forms that depend on the workspace."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms


def set_choices(form: forms.Form, name: str, choices: Sequence[tuple[str, str]]) -> None:
    """Set choices of a form's field that depend on the workspace. Raises TypeError if the field has no choices."""
    field = form.fields[name]
    if not isinstance(field, forms.ChoiceField):
        raise TypeError(f"{name} is no field of choices")
    field.choices = choices
