"""Verification reports and hosted verifications show which backend uses which signing secret."""

import time
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

import affidavit
from workspaces.keys.create import create_key
from workspaces.models import SecretUse
from workspaces.secrets.rotate import rotate_secret
from workspaces.secrets.uses import list_backends

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections")]
CALL = {"sub": "user_1", "operation": "GET /orders", "args": {}}


def report(api, *verifications, key=None, environment="production", report_id=None):
    body = {"environment": environment, "reportId": report_id or str(uuid.uuid4()), "verifications": verifications}
    return api.post("/api/verification-reports", body, key=key)


def build_acceptance(secret: str, count: int = 1, **members):
    return {"result": "accepted", "version": 2, "count": count, "secret": secret[:8], **members}


@pytest.fixture
def billing(workspace) -> str:
    return create_key(workspace.workspace, ["report"], name="billing-api", actor="test", now=timezone.now()).text


def backends(workspace) -> dict[str, set[int]]:
    return {
        f"{backend.name}/{backend.environment.name}": set(backend.last_uses)
        for backend in list_backends(workspace.workspace, now=timezone.now())
    }


def test_reports_add_up_by_secret_environment_and_key(api, workspace, billing):
    secret = workspace.workspace.signing_secrets.get()
    now = int(time.time())
    for count in (3, 4):
        assert report(api, build_acceptance(secret.prefix, count, occurredAt=now - 60), key=billing).status_code == 200
    report(api, build_acceptance(secret.prefix), build_acceptance(secret.prefix, 2), environment="staging")
    rows = {(use.api_key.name, use.environment.name): use.count for use in SecretUse.objects.all()}
    assert rows == {("billing-api", "production"): 7, ("all scopes", "staging"): 3}
    assert int(SecretUse.objects.get(api_key__name="billing-api").last_at.timestamp()) == now - 60
    assert backends(workspace) == {"billing-api/production": {secret.pk}, "all scopes/staging": {secret.pk}}


def test_a_redelivery_is_counted_once(api, workspace):
    report_id = str(uuid.uuid4())
    for _ in range(2):
        report(
            api,
            build_acceptance(workspace.signing_secret, 5, occurredAt=int(time.time()) // 60 * 60),
            report_id=report_id,
        )
    assert SecretUse.objects.get().count == 5


def test_reports_without_a_secret_or_with_an_unknown_one_are_recorded_too(api, workspace, other_workspace):
    answer = report(
        api, {"result": "accepted"}, build_acceptance("gas_none"), build_acceptance(other_workspace.signing_secret),
        {"result": "expired", "secret": workspace.signing_secret[:8]},
    )  # fmt: skip
    assert answer.json() == {"recorded": 4}
    assert not SecretUse.objects.exists()


@pytest.mark.parametrize("value", ["gas_abc", "gas_abcde", "whsec_ab", "", 7, None, "gas_ab d"])
def test_anything_but_the_first_characters_of_a_secret_is_refused_and_not_repeated(api, workspace, value):
    answer = report(api, {"result": "accepted", "secret": value})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/verifications/0/secret"
    whole = report(api, {"result": "accepted", "secret": workspace.signing_secret})
    assert whole.status_code == 400
    assert workspace.signing_secret not in whole.content.decode()


def test_hosted_verification_records_the_secret(api, workspace, billing):
    header = api.post("/api/intents", CALL).json()["header"]
    body = {"header": header, "method": "GET", "path": "/orders"}
    assert api.post("/api/intents/verify", body, key=billing).status_code == 200
    assert api.post("/api/intents/verify", body, key=billing).json()["reason"] == "replayed"
    use = SecretUse.objects.get()
    assert (use.api_key.name, use.secret.prefix, use.count) == ("billing-api", workspace.signing_secret[:8], 1)


def test_a_rotation_shows_which_backends_have_not_used_the_new_secret(api, workspace, billing):
    report(api, build_acceptance(workspace.signing_secret), key=billing)
    report(api, build_acceptance(workspace.signing_secret))
    rotation = rotate_secret(workspace.workspace, actor="test", now=timezone.now())
    report(api, build_acceptance(rotation.text))
    seen = backends(workspace)
    assert rotation.secret.pk in seen["all scopes/production"]
    assert rotation.secret.pk not in seen["billing-api/production"]


def test_a_backend_that_stopped_reporting_is_not_listed(api, workspace, billing):
    report(api, build_acceptance(workspace.signing_secret), key=billing)
    SecretUse.objects.update(last_at=timezone.now() - timedelta(days=8))
    assert backends(workspace) == {}


def test_the_hub_accepts_the_report_of_the_sdk(api, workspace):
    """The report of a protected call adds a use of the signing secret."""
    bodies = []

    class Transport:
        def post_json(self, path, body, headers):
            bodies.append(body)
            return {"recorded": 1}

    reports = affidavit.VerificationReports(workspace.report_key, transport=Transport(), every=3600)
    audience = workspace.workspace.environments.get(name="production").audience
    old = "gas_" + "o" * 43
    verifier = affidavit.IntentVerifier(
        secrets=[old, workspace.signing_secret],
        workspace=workspace.workspace.id,
        audience=audience,
        nonces=affidavit.MemoryNonces(),
    )
    protection = affidavit.Protection(verifier, affidavit.MemoryDeliveries(), reports=reports)
    header = api.post("/api/intents", CALL).json()["header"]
    protection.admit(affidavit.Call(header, "GET", "/orders", "", b"", None)).finish(200, body=b"")
    assert reports.flush()
    assert api.post("/api/verification-reports", bodies[0], key=workspace.report_key).json() == {"recorded": 1}
    use = SecretUse.objects.get()
    assert (use.secret.prefix, use.api_key.name) == (workspace.signing_secret[:8], "report")
    assert workspace.signing_secret[8:] not in bodies[0].decode()
