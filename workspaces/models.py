"""Workspaces with their environments, keys, secrets and members."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.utils import timezone
from django.utils.functional import cached_property

from workspaces.errors import EnvironmentRemoved, ScopeMissing, UnknownEnvironment, WorkspaceRemoved

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX_LENGTH = 12  # how many first characters of a key are stored and shown


def new_workspace_id() -> str:
    return "ws_" + "".join(secrets.choice(BASE62) for _ in range(16))


class Workspace(models.Model):
    """A tenant. Its id is `tenantId` on the wire; its slug is part of page addresses."""

    MAX_NAME = 100

    id = models.CharField(primary_key=True, max_length=40, default=new_workspace_id, editable=False)
    name = models.CharField(max_length=MAX_NAME)
    slug = models.SlugField(max_length=60, unique=True)
    v1_until = models.DateTimeField(null=True, blank=True, help_text="End of the dual-accept window; open if empty.")
    created_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True, help_text="When it was removed; its rows go soon after.")

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    def accepts_v1_at(self, moment: datetime) -> bool:
        """Return whether the dual-accept window is open at a moment."""
        return self.v1_until is None or moment <= self.v1_until

    def lock(self) -> None:
        """Let one change of the workspace run at a time, until the transaction ends; raises WorkspaceRemoved.

        A foreign key alone would notice only at the commit that the workspace was deleted, and not at all that it is
        hidden until the worker deletes it: a key that is created meanwhile would not be revoked.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT FROM workspaces_workspace WHERE id = %s AND removed_at IS NULL FOR NO KEY UPDATE", [self.pk]
            )
            if not cursor.rowcount:
                raise WorkspaceRemoved

    def index_keys_by_actor(self) -> dict[str, ApiKey]:
        """Return all API keys, revoked ones included, by the text that names them as actors in records."""
        return {f"key {api_key}": api_key for api_key in self.api_keys.all()}


class Environment(models.Model):
    """A named stage of a workspace; `production` always exists. Intents are bound to its audience.

    name: the name in addresses and on the wire, which never changes.
    label: the name that people read; if empty, `name` is shown.
    archived_at: the time since which machines cannot name it; its pages stay.
    readable_names: while a key reads a page of it, the environments that this key may use; empty for all.
    """

    MAX_NAME, MAX_LABEL, MAX_AUDIENCE = 60, 60, 255
    readable_names: Sequence[str] = ()

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="environments")
    name = models.CharField(max_length=MAX_NAME)
    label = models.CharField(max_length=MAX_LABEL, blank=True)
    audience = models.CharField(max_length=MAX_AUDIENCE)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_environment_per_name")]

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def readable(self) -> models.QuerySet[Environment]:
        """Return the environments that the reader of this environment may see in the workspace, this one included."""
        environments = self.workspace.environments.all()
        return environments.filter(name__in=self.readable_names) if self.readable_names else environments

    @property
    def readable_siblings(self) -> models.QuerySet[Environment]:
        return self.readable.exclude(pk=self.pk)

    def find_readable_sibling(self, name: str) -> Environment | None:
        """Return another environment of the workspace by its exact name; None if the reader sees none of this name."""
        return self.readable_siblings.filter(name=name).first() if name else None

    def hold(self) -> None:
        """Keep this environment from being removed until the transaction ends; raises EnvironmentRemoved.

        Every function that writes into an environment calls this first. A foreign key alone would lock the environment
        last, when a removal may already wait for rows of this transaction. A function that runs only one statement may
        lock the environment in that statement.
        """
        if not self.try_hold():
            raise EnvironmentRemoved

    def try_hold(self) -> bool:
        """Hold the environment as `hold` does; return False if it was removed."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT FROM workspaces_environment WHERE id = %s FOR KEY SHARE", [self.pk])
            return bool(cursor.rowcount)


class ApiKey(models.Model):
    """A key's digest and first characters; the key itself is shown once and never stored (contract §1).

    environment_names: the environments that it may use, all if empty.
    last_used_at: exact to five minutes.
    """

    SECRET, PUBLISHABLE = "secret", "publishable"
    SCOPES = ("report", "platform", "confirm")
    MAX_NAME = 100

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=MAX_NAME, blank=True)
    kind = models.CharField(max_length=12, choices=[(SECRET, "secret"), (PUBLISHABLE, "publishable")])
    scopes = models.JSONField(default=list)
    environment_names = ArrayField(models.CharField(max_length=Environment.MAX_NAME), default=list, blank=True)
    digest = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=PREFIX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=150, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    is_authenticated = True  # REST framework reads this from the user of a request, which is the key here

    @cached_property
    def environments(self) -> Mapping[str, Environment]:
        """Return the workspace's environments that machines can name, by name, the oldest first."""
        return {environment.name: environment for environment in self.workspace.environments.filter(archived_at=None)}

    def may_use(self, environment_name: str) -> bool:
        return not self.environment_names or environment_name in self.environment_names

    def require_environment(self, name: str) -> Environment:
        """Return the environment of exactly this name; raises UnknownEnvironment or ScopeMissing."""
        if name not in self.environments:
            raise UnknownEnvironment([own_name for own_name in self.environments if self.may_use(own_name)])
        if not self.may_use(name):
            own_names = ", ".join(self.environment_names)
            raise ScopeMissing(f"This key may use only: {own_names}. Name one of these as `environment`.")
        return self.environments[name]


class RefusalTally(models.Model):
    """The number of requests of one key that one endpoint refused with one error code in one hour of UTC.

    endpoint: the method and the address, with the names of its variable parts instead of values.
    first_at, last_at: when the first and the last of these requests were answered.
    """

    pk = models.CompositePrimaryKey("workspace_id", "api_key_id", "endpoint", "code", "starts_at")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    endpoint = models.CharField(max_length=100)
    code = models.CharField(max_length=40)
    starts_at = models.DateTimeField()
    count = models.BigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "hours with refused requests"

    def __str__(self) -> str:
        return f"{self.code} for {self.api_key}"


class SigningSecret(models.Model):
    """A secret that signs intents, encrypted at rest (contract §3, "Secrets").

    signs_from: when it begins to sign, empty while it is only prepared; that of the last rotation signs.
        It verifies from its creation on.
    verifies_until: until when it verifies; empty until a later secret begins to sign in its place.
    revoked_at: when it was revoked.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="signing_secrets")
    ciphertext = models.BinaryField()
    prefix = models.CharField(max_length=8)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=150, blank=True)
    signs_from = models.DateTimeField(null=True, blank=True, default=timezone.now)
    verifies_until = models.DateTimeField(null=True, blank=True, help_text="Empty while it is the newest.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    def verifies_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.verifies_until is None or now < self.verifies_until)

    def verified_at(self, moment: datetime) -> bool:
        """Return whether it verified at an earlier moment, even if it was revoked since."""
        ends = (self.revoked_at, self.verifies_until)
        return all(end is None or moment < end for end in ends)


class SecretUse(models.Model):
    """A backend's use of a signing secret, so that a rotation shows which backends still need the old one.

    api_key: the key with which the backend reported its verifications.
    count: the number of these verifications.
    last_at: the time of the last of them.
    """

    secret = models.ForeignKey(SigningSecret, on_delete=models.CASCADE, related_name="uses")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    count = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["environment", "secret", "api_key"], name="one_use_per_secret_and_key")
        ]

    def __str__(self) -> str:
        return f"{self.secret} by {self.api_key}"


class Membership(models.Model):
    """The right of one of Django's users to open a workspace's pages, and what the user may do there.

    A viewer reads; an editor also sets rules, moves broken joins and decides confirmations; an admin also manages keys,
    secrets, environments, members and retention, and reads the audit log.
    """

    VIEWER, EDITOR, ADMIN = "viewer", "editor", "admin"
    ROLES = (VIEWER, EDITOR, ADMIN)  # each may also do everything that the roles before it may

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, default=VIEWER, choices=[(role, role) for role in ROLES])
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_per_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class Invitation(models.Model):
    """An invitation by link to become a member; only a digest of its token is stored."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=12, choices=[(role, role) for role in Membership.ROLES])
    digest = models.BinaryField(max_length=32, unique=True)
    invited_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.email} to {self.workspace}"


class SignInLink(models.Model):
    """A link that signs one user in, once; only a digest of its token is stored."""

    digest = models.BinaryField(max_length=32, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"link for {self.user}"


class AuditEntry(models.Model):
    """An action: who did what, when and from where. It never holds a key or a secret. Rows are never changed.

    workspace_id: the workspace that was changed; empty for a change of the whole hub, so this is no foreign key.
    address: the address of the client, empty for commands.

    The table is partitioned by month. Its primary key in the database is (workspace_id, at, id).
    """

    workspace_id = models.CharField(max_length=40, blank=True)
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=150)
    address = models.GenericIPAddressField(null=True, blank=True)
    action = models.CharField(max_length=60)
    facts: Any = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"


class RetentionPolicy(models.Model):
    """The days for which a workspace keeps each kind of data. Tallies are kept, except of refused requests.

    Empty means the default of the kind (hub.retention.data_kinds), which for most kinds is for ever.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="retention")
    broken_joins = models.PositiveIntegerField(null=True, blank=True)
    rejections = models.PositiveIntegerField(null=True, blank=True)
    minted_intents = models.PositiveIntegerField(null=True, blank=True)
    confirmations = models.PositiveIntegerField(null=True, blank=True)
    inbox = models.PositiveIntegerField(null=True, blank=True)
    audit = models.PositiveIntegerField(null=True, blank=True)
    observed_days = models.PositiveIntegerField(null=True, blank=True)
    annotations = models.PositiveIntegerField(null=True, blank=True)
    alerts = models.PositiveIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return f"retention of {self.workspace}"


class Annotation(models.Model):
    """An event that charts mark: a deploy, a campaign. Its primary key in the database is (workspace_id, id).

    environment: empty if it concerns every environment.
    created_by: a member, or the first characters of a key.
    """

    MAX_TEXT, MAX_URL = 200, 2000

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="annotations", db_index=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField()
    text = models.CharField(max_length=MAX_TEXT)
    url = models.CharField(max_length=MAX_URL, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=150)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["workspace", "-at", "-id"], name="latest_annotations")]

    def __str__(self) -> str:
        return self.text


class SharedLink(models.Model):
    """A link that shows one page to whoever has it, until it expires; only a digest of its token is stored.

    page, query: the name of the page in page_paths, and the query of its address.
    last_opened_at: exact to a minute.
    """

    MAX_QUERY = 2000

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="shared_links")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    page = models.CharField(max_length=40)
    query = models.CharField(max_length=MAX_QUERY, blank=True)
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=150)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.page} of {self.environment}"


class SampleWorkspace(models.Model):
    """The mark of the sample workspace: when it was made, and how many days of its history there are."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="sample")
    made_at = models.DateTimeField()
    days = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.workspace)


class TokenBucket(models.Model):
    """A token bucket of the rate limits, shared by all processes. Its table is unlogged: a crash refills all buckets.

    name: `key:<id>` or `address:<network>`.
    tokens: the number of tokens at `refilled_at`.
    """

    name = models.CharField(primary_key=True, max_length=80)
    tokens = models.FloatField()
    refilled_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
