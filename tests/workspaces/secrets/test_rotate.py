"""Signing secrets rotate at once, or in two steps without a rejected call (contract §3)."""

from datetime import timedelta

import pytest
from django.utils import timezone

import affidavit
from wire.errors import InvalidRequest
from workspaces.models import AuditEntry
from workspaces.secrets.decrypt import load_newest_secret, load_valid_secrets
from workspaces.secrets.revoke import revoke_secret
from workspaces.secrets.rotate import (
    PREVIOUS_VERIFIES_FOR,
    activate_secret,
    find_signer,
    prepare_secret,
    rotate_secret,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections")]
CALL = {"sub": "user_1", "operation": "GET /orders", "args": {}}


@pytest.fixture
def shop(workspace):
    return workspace.workspace


def stamp():
    return {"actor": "ada", "now": timezone.now()}


def mint(api) -> str:
    return api.post("/api/intents", CALL).json()["header"]


def verify(api, header: str) -> str:
    answer = api.post("/api/intents/verify", {"header": header, "method": "GET", "path": "/orders"})
    return "accepted" if answer.status_code == 200 else answer.json()["reason"]


def passes(secret: str, header: str, shop) -> bool:
    """Return whether a backend with only this secret accepts the intent."""
    audience = shop.environments.get(name="production").audience
    verifier = affidavit.IntentVerifier(
        secrets=secret, workspace=shop.id, audience=audience, nonces=affidavit.MemoryNonces()
    )
    try:
        verifier.verify(header, "GET", "/orders")
    except affidavit.IntentRejected:
        return False
    return True


def test_a_new_secret_signs_at_once_and_the_previous_verifies_for_a_day(api, workspace, shop):
    before = mint(api)
    rotation = rotate_secret(shop, **stamp())
    assert rotation.previous_verifies_until - timezone.now() > PREVIOUS_VERIFIES_FOR - timedelta(minutes=1)
    assert passes(rotation.text, mint(api), shop)
    assert not passes(workspace.signing_secret, mint(api), shop)
    assert verify(api, before) == verify(api, mint(api)) == "accepted"
    assert load_valid_secrets(shop, now=timezone.now()) == [rotation.text, workspace.signing_secret]
    assert load_valid_secrets(shop, now=timezone.now() + PREVIOUS_VERIFIES_FOR) == [rotation.text]


def test_a_prepared_secret_verifies_but_does_not_sign(api, workspace, shop):
    rotation = prepare_secret(shop, **stamp())
    assert passes(workspace.signing_secret, mint(api), shop)
    assert load_newest_secret(shop) == workspace.signing_secret
    assert rotation.text in load_valid_secrets(shop, now=timezone.now() + 2 * PREVIOUS_VERIFIES_FOR)
    assert workspace.signing_secret in load_valid_secrets(shop, now=timezone.now() + 2 * PREVIOUS_VERIFIES_FOR)


def test_an_activated_secret_signs_and_the_previous_one_verifies_for_a_day(api, workspace, shop):
    text = prepare_secret(shop, **stamp()).text
    rotation = activate_secret(shop, **stamp())
    assert rotation.text == ""
    assert passes(text, mint(api), shop)
    assert load_valid_secrets(shop, now=timezone.now()) == [text, workspace.signing_secret]
    assert load_valid_secrets(shop, now=timezone.now() + PREVIOUS_VERIFIES_FOR) == [text]


def test_a_revoked_secret_no_longer_verifies(api, workspace, shop):
    before = mint(api)
    previous = find_signer(shop)
    rotate_secret(shop, **stamp())
    assert revoke_secret(previous, **stamp())
    assert verify(api, before) == "bad-signature"
    assert not revoke_secret(previous, **stamp())


def test_the_secret_that_signs_cannot_be_revoked(shop):
    with pytest.raises(InvalidRequest, match="Rotate first"):
        revoke_secret(find_signer(shop), **stamp())


def test_a_prepared_secret_can_be_revoked_and_another_prepared(shop):
    prepared = prepare_secret(shop, **stamp()).secret
    with pytest.raises(InvalidRequest, match="prepared already"):
        prepare_secret(shop, **stamp())
    with pytest.raises(InvalidRequest, match="prepared already"):
        rotate_secret(shop, **stamp())
    revoke_secret(prepared, **stamp())
    with pytest.raises(InvalidRequest, match="No secret is prepared"):
        activate_secret(shop, **stamp())
    assert prepare_secret(shop, **stamp()).secret != prepared


def test_a_second_rotation_in_a_day_does_not_move_the_end_of_the_first_secret(shop, workspace):
    start = timezone.now()
    rotate_secret(shop, actor="ada", now=start)
    rotate_secret(shop, actor="ada", now=start + timedelta(hours=12))
    assert len(load_valid_secrets(shop, now=start + timedelta(hours=23))) == 3
    assert len(load_valid_secrets(shop, now=start + timedelta(hours=25))) == 2


def test_the_secret_of_the_last_rotation_signs_whatever_the_clock_said_then(shop):
    now = timezone.now()
    first = rotate_secret(shop, actor="ada", now=now + timedelta(days=1))  # while the clock is a day ahead
    assert load_newest_secret(shop) == first.text
    second = rotate_secret(shop, actor="ada", now=now - timedelta(days=1))
    assert load_newest_secret(shop) == second.text


def test_the_audit_log_has_each_step_with_the_prefix_of_the_secret_only(shop):
    text = prepare_secret(shop, **stamp()).text
    previous = find_signer(shop)
    activate_secret(shop, **stamp())
    revoke_secret(previous, **stamp())
    entries = AuditEntry.objects.filter(action__startswith="signing secret").order_by("id")
    assert [entry.action.removeprefix("signing secret ") for entry in entries] == ["prepared", "rotated", "revoked"]
    assert text[:8] in str(entries[0].facts)
    assert text[8:] not in str([entry.facts for entry in entries])
