"""The page of signing secrets says what became of calls since the present secret signs them."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from workspaces.models import SigningSecret

PAGE = "/w/lumen-books/production/secrets"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def production(workspace):
    return workspace.workspace.environments.get(name="production")


@pytest.fixture
def rotation(workspace):
    """A rotation an hour ago. Returns the secret that signs since then."""
    moment = timezone.now() - 60 * MINUTE
    SigningSecret.objects.update(signs_from=moment - timedelta(days=30))
    return SigningSecret.objects.create(
        workspace=workspace.workspace, ciphertext=b"", prefix="gas_new1", created_at=moment, signs_from=moment
    )


def tidy(response):
    return " ".join(response.content.decode().split())


def read_results(client):
    return json.loads(client.get(f"{PAGE}.json").getvalue())["tables"]["results"]


def record(environment, signer, result, minutes, **facts):
    """Record verifications so many minutes after the secret began to sign."""
    key = environment.workspace.api_keys.get(name="report")
    moment = signer.signs_from + minutes * MINUTE
    record_verifications(environment, [Verification(result, moment, **facts)], api_key=key)


def test_a_backend_without_the_new_secret_is_named_with_both_counts(browser_client, production, rotation):
    assert read_results(browser_client) == []
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "bad-signature", -600, count=1)
    record(production, rotation, "accepted", 2, count=3)  # their intents were signed before the rotation
    record(production, rotation, "bad-signature", 3, count=37)
    page = tidy(browser_client.get(PAGE))
    assert "Production accepts no call that <code>gas_new1…</code> signed." in page
    assert "0 accepted, 37 rejected as <code>bad-signature</code>" in page
    assert "Add <code>gas_new1…</code> to the secrets of the backend and deploy it." in page
    [row] = read_results(browser_client)
    assert (row["environment"], row["accepted"], row["badSignatures"]) == ("production", 0, 37)
    assert (row["badSignaturesBefore"], row["verificationsBefore"], row["noneAcceptedSince"]) == (1, 991, True)
    overview = tidy(browser_client.get("/w/lumen-books/production/overview"))
    assert "The secret <code>gas_new1…</code> has signed since" in overview


def test_calls_that_were_verified_with_the_new_secret_are_counted(browser_client, production, rotation):
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "bad-signature", 3, count=37)
    record(production, rotation, "accepted", 10, count=5, secret="gas_new1")
    [row] = read_results(browser_client)
    assert (row["accepted"], row["badSignatures"], row["noneAcceptedSince"]) == (5, 37, False)
    assert "accepts no call" not in tidy(browser_client.get(PAGE))
    assert "has signed since" not in tidy(browser_client.get("/w/lumen-books/production/overview"))


def test_a_backend_that_does_not_report_its_secret_is_not_said_to_lack_it(browser_client, production, rotation):
    record(production, rotation, "accepted", 20, count=5)
    [row] = read_results(browser_client)
    assert (row["accepted"], row["noneAcceptedSince"]) == (None, False)
    assert "not reported" in tidy(browser_client.get(PAGE))
    old = SigningSecret.objects.exclude(pk=rotation.pk).get()
    record(production, rotation, "accepted", 30, count=5, secret=old.prefix)
    record(production, rotation, "bad-signature", 31, count=2)
    [row] = read_results(browser_client)
    assert (row["accepted"], row["badSignatures"]) == (0, 2)


def test_another_reason_does_not_blame_the_secret(browser_client, production, rotation):
    record(production, rotation, "accepted", -600, count=990)
    record(production, rotation, "expired", 3, count=37)
    assert "accepts no call" not in tidy(browser_client.get(PAGE))
    assert "has signed since" not in tidy(browser_client.get("/w/lumen-books/production/overview"))
