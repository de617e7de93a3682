"""`manage.py rotate_encryption`: after it, all that is encrypted can be decrypted without the old key."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from cryptography.fernet import InvalidToken
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from hub.local.startup_errors import StartupError
from tests.hub.management.test_key_commands import run
from wire.at_rest.encryption import build_cipher
from workspaces.models import AuditEntry, SigningSecret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections")]
NEW, OLDER = "n" * 50, "o" * 50
READ = {"sub": "user_1", "operation": "GET /orders", "args": {}}
WRITE = {"sub": "user_1", "operation": "POST /orders", "args": {}, "summary": "Order"}
TOKEN = re.compile(rb"gAAAAA[0-9A-Za-z_=-]{40,}")


@pytest.fixture
def person(db):
    """Return a signed-in browser of a person with a second factor."""
    user = get_user_model().objects.create_superuser("ada")
    TOTP.activate(user, "JBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(user)
    client = Client()
    client.force_login(user)
    return client


def stored_tokens() -> list[bytes]:
    """Return every Fernet token in any column of any table."""
    tokens = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                for value in row:
                    raw = bytes(value) if isinstance(value, memoryview | bytes) else str(value).encode()
                    tokens += TOKEN.findall(raw)
    return tokens


def test_everything_works_without_the_old_key(api, person, settings, workspace):
    once = {"Idempotency-Key": "one"}
    first = api.post("/api/intents", READ, headers=once)
    header = first.json()["header"]
    confirmation = api.post("/api/confirmations", WRITE).json()["confirmationId"]
    person.get("/w/lumen-books/production/overview")
    count = len(stored_tokens())
    assert count >= 6  # a secret, an answer, a confirmation, a session, a TOTP secret, recovery codes
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = NEW
    output = run("rotate_encryption")
    replayed = api.post("/api/intents", READ, headers=once)
    assert (replayed["Idempotent-Replayed"], replayed.content) == ("true", first.content)
    assert person.get("/w/lumen-books/production/overview").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []

    assert "signing secrets: 1 row encrypted again" in output
    assert len(stored_tokens()) == count
    for token in stored_tokens():
        build_cipher(NEW).decrypt(token)
    answer = api.post("/api/intents/verify", {"header": header, "method": "GET", "path": "/orders"})
    assert answer.status_code == 200
    assert api.post("/api/intents", READ).status_code == 201
    # Keyed hashes cannot be recomputed, so older values are refused. That is why docs/settings.md says to wait a day.
    refusal = api.post("/api/intents", READ, headers=once).json()
    assert refusal["code"] == "idempotency-key-reused"
    assert "before the hub's SECRET_KEY was replaced" in refusal["detail"]
    assert confirmation in person.get("/w/lumen-books/production/confirmations").content.decode()
    secret = Authenticator.objects.get(type=Authenticator.Type.TOTP)
    assert build_cipher(NEW).decrypt(secret.data["secret"].encode()) == b"JBSWY3DPEHPK3PXP"


def test_a_second_run_changes_nothing(api, settings, workspace):
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = NEW
    run("rotate_encryption")
    before = bytes(SigningSecret.objects.get().ciphertext)
    assert "signing secrets: 0 rows" in run("rotate_encryption")
    assert bytes(SigningSecret.objects.get().ciphertext) == before
    entry = AuditEntry.objects.filter(action="encryption rotated").first()
    assert (entry.workspace_id, entry.facts["rows"]["signing secrets"]) == ("", 0)


def test_rows_that_no_key_fits_are_named_and_left_as_they_are(settings, workspace):
    before = bytes(SigningSecret.objects.get().ciphertext)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLDER]
    with pytest.raises(StartupError, match="signing secrets 1"):
        run("rotate_encryption")
    assert bytes(SigningSecret.objects.get().ciphertext) == before
    with pytest.raises(InvalidToken):
        build_cipher(NEW, OLDER).decrypt(before)
