"""The form by which an invited person opens an account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator


class NewAccountForm(forms.Form):
    """The user name and password of somebody who was invited at `email`."""

    username = UsernameField(
        max_length=150, validators=[UnicodeUsernameValidator()], error_messages={"required": "Choose a user name."}
    )
    password = forms.CharField(strip=False, max_length=4096, error_messages={"required": "Choose a password."})

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if "@" in username and username.lower() != self.email:
            raise forms.ValidationError("An address as a user name has to be your own.")
        if User.objects.filter(username__iexact=username).exists():
            raise forms.ValidationError("This user name is taken.")
        return username

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if "password" in data:
            person = User(username=data.get("username", ""), email=self.email)
            try:
                validate_password(data["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return data
