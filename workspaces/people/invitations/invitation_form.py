"""The form by which an admin invites somebody."""

from __future__ import annotations

from django import forms

from workspaces.models import Membership

MAX_EMAIL = 254  # characters that are stored; a form of Django takes more


class InvitationForm(forms.Form):
    """The address of a person whom an admin invites, and the role."""

    email = forms.EmailField(
        max_length=MAX_EMAIL,
        error_messages={
            "required": "Enter an e-mail address.",
            "invalid": "This is not an e-mail address.",
            "max_length": f"An e-mail address has at most {MAX_EMAIL} characters.",
        },
    )
    role = forms.ChoiceField(
        choices=[(role, role) for role in Membership.ROLES],
        error_messages={"required": "Choose a role.", "invalid_choice": "Choose one of the roles."},
    )
