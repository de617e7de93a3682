"""Who the hub serves: workspaces, their environments, keys, secrets and members."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, models
from django.utils import timezone
from django.utils.functional import cached_property

from wire.errors import DomainError, NotFound

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX_LENGTH = 12  # the first characters of a key, which are stored and shown


def new_workspace_id() -> str:
    return "ws_" + "".join(secrets.choice(BASE62) for _ in range(16))


class Workspace(models.Model):
    """A tenant. Its id is `tenantId` on the wire; its slug is part of page addresses."""

    id = models.CharField(primary_key=True, max_length=40, default=new_workspace_id, editable=False)
    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True)
    v1_until = models.DateTimeField(null=True, blank=True, help_text="End of the dual-accept window; open if empty.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class EnvironmentRemoved(NotFound):
    """The environment was removed while the request was on its way."""

    def __init__(self) -> None:
        super().__init__("This environment was removed in the meantime. Nothing was stored.")


class Environment(models.Model):
    """A named stage of a workspace; `production` always exists. Intents are bound to its audience."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="environments")
    name = models.CharField(max_length=60)
    audience = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_environment_per_name")]

    def __str__(self) -> str:
        return self.name

    def hold(self) -> None:
        """Keep this environment from being removed until the transaction ends; raises EnvironmentRemoved.

        Every verb that writes into an environment calls this first. A foreign key alone would lock it last, when a
        removal may already wait for rows of the same transaction. A verb of one statement may lock it in that
        statement.
        """
        if not self.try_hold():
            raise EnvironmentRemoved

    def try_hold(self) -> bool:
        """Hold the environment as `hold` does; return False if it was removed."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM workspaces_environment WHERE id = %s FOR KEY SHARE", [self.pk])
            return bool(cursor.rowcount)


class UnknownEnvironment(DomainError):
    """The workspace has no environment of exactly this name (contract 1)."""

    code = "unknown-environment"

    def __init__(self, environments: Sequence[str]) -> None:
        detail = f"This workspace has: {', '.join(environments)}. Names are compared exactly. Nothing was stored."
        super().__init__(detail, extra={"environments": list(environments)})


class ApiKey(models.Model):
    """A key's digest and first characters; the key itself is shown once and never stored (contract 1)."""

    SECRET, PUBLISHABLE = "secret", "publishable"
    SCOPES = ("report", "platform")

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_keys")
    kind = models.CharField(max_length=12, choices=[(SECRET, "secret"), (PUBLISHABLE, "publishable")])
    scopes = models.JSONField(default=list)
    digest = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=PREFIX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    is_authenticated = True  # REST framework reads this from the user of a request, which is the key here

    @cached_property
    def environments(self) -> Mapping[str, Environment]:
        """The environments of its workspace by name, the oldest first."""
        return {environment.name: environment for environment in self.workspace.environments.all()}

    def require_environment(self, name: str) -> Environment:
        """Return the environment of exactly this name; raises UnknownEnvironment."""
        if name in self.environments:
            return self.environments[name]
        raise UnknownEnvironment(list(self.environments))


class SigningSecret(models.Model):
    """A secret that signs intents, encrypted at rest; the newest signs, older ones verify for a while."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="signing_secrets")
    ciphertext = models.BinaryField()
    prefix = models.CharField(max_length=8)
    created_at = models.DateTimeField(default=timezone.now)
    verifies_until = models.DateTimeField(null=True, blank=True, help_text="Empty while it is the newest.")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    def verifies_at(self, now: datetime) -> bool:
        return self.verifies_until is None or now < self.verifies_until


class Membership(models.Model):
    """Which of Django's users may open a workspace's pages."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, default="member", choices=[("owner", "owner"), ("member", "member")])
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_per_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class SignInLink(models.Model):
    """A link that signs one user in, once; only a digest of its token is stored."""

    digest = models.BinaryField(max_length=32, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"link for {self.user}"


class AuditEntry(models.Model):
    """Who did what to a workspace, and when; never holds a key or a secret."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="audit_entries")
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    facts: Any = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["workspace", "-at"])]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
