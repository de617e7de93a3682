"""Distinguish keys, secrets, workspaces and audiences by their prefix, and read them from environment variables."""

import os
import re

HUB_VARIABLE = "AFFIDAVIT_HUB"
KEY_VARIABLE = "AFFIDAVIT_API_KEY"
ENVIRONMENT_VARIABLE = "AFFIDAVIT_ENVIRONMENT"
SECRET_VARIABLE = "AFFIDAVIT_SIGNING_SECRET"
WORKSPACE_VARIABLE = "AFFIDAVIT_WORKSPACE"
AUDIENCE_VARIABLE = "AFFIDAVIT_AUDIENCE"

_KINDS = {
    "gas_": "a signing secret",
    "gak_": "a secret API key",
    "pk_": "a publishable API key",
    "ws_": "a workspace",
    "urn:affidavit:": "an audience",
}
QUOTATION_MARKS = ('"', "'")


def describe_mistake(text: str, prefix: str) -> str | None:
    """Return a sentence that says what is wrong with a credential, None if its beginning shows no mistake.

    prefix: the expected prefix.

    The sentence says what kind of value `text` is, and which kind is expected. Or it says that there is something
    around the value: the line end of a file, for example, or the quotation marks that Docker leaves in a variable. It
    does not repeat the text, which may be a secret.
    """
    if has_invisible_ends(text):
        return "this has white space or an invisible character at its beginning or end; leave it out"
    if text.startswith(QUOTATION_MARKS) and text[1:].startswith(tuple(_KINDS)):
        return "this has quotation marks around it; leave them out"
    for other_prefix, kind in _KINDS.items():
        if other_prefix != prefix and text.startswith(other_prefix):
            return f"this is {kind} ({other_prefix}…); give {_KINDS[prefix]}, which begins with {prefix}"
    return None


def has_invisible_ends(text: str) -> bool:
    """Return whether a text begins or ends with white space or another character that nobody sees."""
    ends = text[:1] + text[-1:]
    return not ends.isprintable() or ends != ends.strip()


def split_secrets(text: str) -> list[str]:
    """Return the signing secrets of a text: one, or several of a hub with commas between them, as during a rotation."""
    return list(filter(None, re.split(" *, *", text))) if text.startswith("gas_") else [text]


def read_variable(value: str | None, name: str) -> str | None:
    """Return `value`, or the environment variable if `value` is None; None if the variable is unset or empty."""
    return value if value is not None else os.environ.get(name) or None
