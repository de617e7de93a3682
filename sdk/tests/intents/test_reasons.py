import pytest

from affidavit._intents.check_descriptions import CHECKS
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentVerifier

SPEC = {"missing-header", "malformed", "bad-signature", "expired", "method-mismatch", "path-mismatch"}
CONTRACT = {
    "unsupported-version",
    "not-yet-valid",
    "lifetime-too-long",
    "tenant-mismatch",
    "audience-mismatch",
    "operation-mismatch",
    "args-mismatch",
    "step-up-required",
    "replayed",
}


def test_the_reasons_are_the_six_of_the_spec_and_the_nine_of_the_contract():
    assert set(REASONS) == SPEC | CONTRACT
    assert len(REASONS) == 15


def test_reasons_are_in_the_order_of_their_checks():
    checks = list(CHECKS)
    positions = [checks.index(reason.check) for reason in REASONS.values()]
    assert positions == sorted(positions)


def test_every_reason_has_a_meaning_and_a_fix():
    for slug, reason in REASONS.items():
        assert reason.slug == slug
        assert all(text.strip().endswith(".") for text in (reason.meaning, reason.usual_fix))
        assert not reason.title.endswith(".")


def test_no_fix_refers_to_the_settings_of_the_hub():
    """Settings would not help: they never show a secret again, and Intent inspector shows the audience."""
    assert [slug for slug, reason in REASONS.items() if "settings" in reason.usual_fix] == []


@pytest.mark.parametrize(("secret", "audience"), [("", "urn:a"), ("gas_" + "a" * 43, "")], ids=["secret", "audience"])
def test_the_error_for_a_missing_secret_or_audience_says_where_it_was_shown(secret, audience):
    with pytest.raises(ValueError, match="shown when the workspace was made"):
        IntentVerifier(secrets=secret, workspace="ws_1", audience=audience, nonces=MemoryNonces(several_workers=True))


def test_every_check_is_the_source_of_a_reason():
    assert {reason.check for reason in REASONS.values()} == set(CHECKS)
