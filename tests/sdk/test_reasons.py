from affidavit._intents.reasons import CHECKS, REASONS

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


def test_the_set_of_reasons_is_the_specs_six_and_the_contracts_nine():
    assert set(REASONS) == SPEC | CONTRACT
    assert len(REASONS) == 15


def test_reasons_stand_in_the_order_of_their_checks():
    order = list(CHECKS)
    places = [order.index(reason.check) for reason in REASONS.values()]
    assert places == sorted(places)


def test_every_reason_says_what_it_means_and_what_to_do():
    for slug, reason in REASONS.items():
        assert reason.slug == slug
        assert all(text.strip().endswith(".") for text in (reason.meaning, reason.usual_fix))
        assert not reason.title.endswith(".")


def test_every_check_is_the_source_of_a_reason():
    assert {reason.check for reason in REASONS.values()} == set(CHECKS)
