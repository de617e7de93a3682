"""Find a signing secret by its first characters, which operators write into commands."""

from __future__ import annotations

from wire.errors import InvalidRequest, NotFound
from workspaces.models import SigningSecret

SECRET_PREFIX_LENGTH = 8  # `gas_` and four more
MIN_PREFIX = 6


def find_secret(text: str) -> SigningSecret:
    """Return the secret that its first characters name, in any workspace.

    Raises NotFound; InvalidRequest for too few characters, or with a list of the secrets if several begin like this.
    """
    if len(text) < MIN_PREFIX:
        raise InvalidRequest(f"Name the secret by {MIN_PREFIX} to {SECRET_PREFIX_LENGTH} of its first characters.")
    secrets = SigningSecret.objects.select_related("workspace")
    secrets = secrets.filter(prefix__startswith=text[:SECRET_PREFIX_LENGTH])
    matches = list(secrets.filter(revoked_at=None)[:20]) or list(secrets[:20])
    if not matches:
        raise NotFound("No signing secret begins like this. The page of signing secrets lists those of a workspace.")
    if len(matches) > 1:
        names = ", ".join(f"{secret.prefix} ({secret.workspace.slug})" for secret in matches)
        raise InvalidRequest(f"Several secrets begin like this: {names}. Give more characters, or use the page.")
    return matches[0]
