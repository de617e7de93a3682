"""Stored hashes are keyed, so that guessed values cannot be confirmed."""

from __future__ import annotations

import hashlib
import json
import uuid

from django.db import connection

from catalog.models import WitnessReportId
from intents.models import VerificationReport
from wire.at_rest.keyed_hash import compute_hash, is_hash_of
from wire.migrations._rehash import rehash_column
from wire.models import IdempotentAnswer

VERIFICATIONS = {"verifications": [{"result": "expired"}]}
OBSERVATIONS = {"observations": [{"method": "GET", "path": "/orders", "status": 200, "count": 1}]}


def test_a_hash_matches_its_value_in_its_workspace_only():
    stored = compute_hash("ws_1", b"value")
    assert is_hash_of(stored, "ws_1", b"value")
    assert not is_hash_of(stored, "ws_1", b"other")
    assert not is_hash_of(stored, "ws_2", b"value")
    assert stored != hashlib.sha256(b"value").digest()


def test_a_hash_with_an_earlier_key_matches_while_that_key_is_configured(settings):
    stored = compute_hash("ws_1", b"value")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [settings.SECRET_KEY]
    assert is_hash_of(stored, "ws_1", b"value")
    assert compute_hash("ws_1", b"value") != stored
    settings.SECRET_KEY_FALLBACKS = []
    assert not is_hash_of(stored, "ws_1", b"value")


def test_bodies_are_kept_as_keyed_hashes(api):
    bodies = {
        "/api/witness-reports": {"reportId": str(uuid.uuid4()), **OBSERVATIONS},
        "/api/verification-reports": {"reportId": str(uuid.uuid4()), **VERIFICATIONS},
    }
    for address, body in bodies.items():
        raw = json.dumps(body).encode()
        assert api.post(address, raw, headers={"Idempotency-Key": "k"}).status_code in (200, 202)
        assert api.post(address, raw).status_code in (200, 202), "a redelivery"
        assert api.post(address, raw + b" ").json()["code"] == "report-id-reused"
        assert (
            api.post(address, raw + b" ", headers={"Idempotency-Key": "k"}).json()["code"] == "idempotency-key-reused"
        )
        plain = hashlib.sha256(raw).digest()
        kept = [
            *WitnessReportId.objects.values_list("digest", flat=True),
            *VerificationReport.objects.values_list("digest", flat=True),
            *IdempotentAnswer.objects.values_list("body_digest", flat=True),
        ]
        assert plain not in map(bytes, kept)


def test_a_report_with_an_unkeyed_hash_is_rewritten(api):
    raw = json.dumps({"reportId": str(uuid.uuid4()), **VERIFICATIONS}).encode()
    api.post("/api/verification-reports", raw)
    VerificationReport.objects.update(digest=hashlib.sha256(raw).digest())
    rows = VerificationReport.objects.values_list("pk", "workspace_id", "digest")
    with connection.schema_editor() as schema_editor:
        rehash_column(schema_editor, rows, "intents_verificationreport", "digest")
    assert api.post("/api/verification-reports", raw).status_code == 200
