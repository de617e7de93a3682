"""A dump of the database reveals no secret, usable key or session, and no intent that still verifies."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from workspaces.create import NewWorkspace
from workspaces.keys.create import create_key
from workspaces.models import Membership
from workspaces.people.invitations.invite import invite
from workspaces.people.sign_in.links import create_link
from workspaces.secrets.rotate import prepare_secret

pytestmark = pytest.mark.django_db
ARGUMENTS = {"orderId": 777123}
PASSWORD = "correct horse battery staple 17"


def dump_rows() -> Iterator[str]:
    """Yield each row of each table as text. Binary columns are also yielded as their bytes."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT dumped::text FROM "{table}" AS dumped')
            for (row,) in cursor.fetchall():
                yield row
                for digits in re.findall(r"\\x([0-9a-f]+)", row):
                    yield bytes.fromhex(digits).decode("latin-1")


def spell(secret: str) -> list[str]:
    """Return a secret in each encoding in which a dump could contain it."""
    raw = secret.encode()
    return [secret, raw.hex(), base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode()]


class UsedHub:
    """A hub whose intents, confirmations, keys, sign-in and invitations were used.

    secrets: the texts that a dump of the hub must not contain.
    """

    def __init__(self, created: NewWorkspace, api: Any) -> None:
        now = timezone.now()
        workspace = created.workspace
        call = {"sub": "user_1", "operation": "GET /orders", "args": ARGUMENTS}
        minted = api.post("/api/intents", call, headers={"Idempotency-Key": "k1"}).json()
        self.header = minted["header"]
        received = {"header": self.header, "method": "GET", "path": "/orders", "query": "orderId=777123"}
        api.post("/api/intents/verify", received, headers={"Idempotency-Key": "k2"})
        write = {**call, "operation": "POST /orders"}
        confirmation = api.post("/api/confirmations", {**write, "summary": "Order"}).json()
        api.post(f"/api/confirmations/{confirmation['confirmationId']}/decision", {"decision": "confirm"})
        user = get_user_model().objects.create_user("ada", "ada@example.com", PASSWORD)
        Membership.objects.create(workspace=workspace, user=user, role=Membership.ADMIN)
        self.browser = Client()
        self.browser.force_login(user)
        self.browser.get(f"/w/{workspace.slug}/production/overview")
        totp_secret = "JBSWY3DPEHPK3PXP"
        Authenticator.objects.create(
            user=user, type=Authenticator.Type.TOTP, data={"secret": get_adapter().encrypt(totp_secret)}
        )
        recovery_code = RecoveryCodes.activate(user).get_unused_codes()[0]
        self.link = create_link(user, now=now)
        _, self.invitation = invite(workspace, "bob@example.com", Membership.VIEWER, actor="ada", now=now)
        self.keys = [created.report_key, created.platform_key, created.full_key, created.publishable_key]
        self.keys.append(create_key(workspace, name="ci", scopes=["report"], actor="ada", now=now).text)
        prepared = prepare_secret(workspace, actor="ada", now=now)
        self.secrets = [
            *self.keys, created.signing_secret, prepared.text, self.header, totp_secret, recovery_code,
            self.link, self.invitation, PASSWORD, self.browser.cookies["sessionid"].value, minted["payload"]["nonce"],
            minted["payload"]["argsHash"],
        ]  # fmt: skip


@pytest.fixture
def used_hub(workspace: NewWorkspace, api: Any) -> UsedHub:
    return UsedHub(workspace, api)


def test_a_dump_contains_no_secret_in_any_encoding(used_hub):
    dump = "\n".join(dump_rows())
    assert [secret[:12] for secret in used_hub.secrets if any(spelling in dump for spelling in spell(secret))] == []


def test_nothing_in_a_dump_gives_access_to_the_api_or_a_page(used_hub, api):
    dump = "\n".join(dump_rows())
    words = set(re.findall(r"[\w+/=.-]{12,}", dump))
    assert len(words) > 20
    for word in words:
        assert api.get("/api/catalog", key=word).status_code in (401, 403), word
        thief = Client(headers={"cookie": f"sessionid={word}"})
        assert thief.get("/account").status_code == 302, word


def test_no_intent_in_a_dump_verifies(used_hub, api):
    for word in set(re.findall(r"[\w=-]{80,}", "\n".join(dump_rows()))):
        received = {"header": word, "method": "GET", "path": "/orders", "query": "orderId=777123"}
        assert api.post("/api/intents/verify", received).status_code == 403


def test_a_dump_cannot_confirm_guessed_arguments(used_hub):
    """The stored hash of the arguments is keyed, and the arguments themselves are not stored."""
    received = [row for row in dump_rows() if "GET /orders" in row]
    assert received
    assert not any("777123" in row for row in received)
