import base64
import functools
import hmac
import json

import pytest

from affidavit._intents.args import args_hash
from affidavit._intents.envelope import Unreadable
from affidavit._intents.intent import detect_version, mint_intent, read_intent, sign_payload

SECRET = "gas_" + "s" * 43
CALL = {"tenant_id": "lumen", "sub": "user-1", "aud": "https://api.lumen.example", "operation": "POST /orders"}
V1 = {
    "toolCallId": "call-1", "tenantId": "lumen", "method": "GET", "path": "/", "issuedAt": 1, "expiresAt": 2,
}  # fmt: skip
V2 = mint_intent(SECRET, **CALL, args={}, now=1_800_000_000).payload


def open_header(header: str) -> dict:
    return json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))


def test_a_minted_intent_has_the_form_of_the_spec():
    minted = mint_intent(SECRET, **CALL, args={"qty": 1}, requires_step_up=True, now=1_800_000_000.9)
    assert list(minted.payload) == [
        "v", "toolCallId", "tenantId", "sub", "aud", "operation", "argsHash", "nonce", "issuedAt", "expiresAt",
        "requiresStepUp",
    ]  # fmt: skip
    assert minted.payload["argsHash"] == args_hash({"qty": 1})
    assert (minted.payload["issuedAt"], minted.payload["expiresAt"]) == (1_800_000_000, 1_800_000_300)
    envelope = open_header(minted.header)
    assert envelope["payload"] == minted.payload
    text = json.dumps(minted.payload, sort_keys=True, separators=(",", ":")).encode()
    assert envelope["signature"] == hmac.digest(SECRET.encode(), text, "sha256").hex()


def test_every_minted_intent_has_its_own_nonce_and_tool_call_id():
    first, second = (mint_intent(SECRET, **CALL, args={}).payload for _ in range(2))
    assert first["nonce"] != second["nonce"]
    assert len(first["nonce"]) == 32
    assert first["toolCallId"] != second["toolCallId"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"lifetime": 0}, {"lifetime": 901}, {"lifetime": True}, {"lifetime": 1.5}, {"sub": ""}, {"operation": ""},
        {"aud": None}, {"sub": "\ud800"}, {"sub": "a\0b"}, {"sub": "x" * 9000}, {"args_hash": "0" * 64},
        {"args": 2**53 + 1}, {"requires_step_up": "yes"},
    ],
)  # fmt: skip
def test_an_intent_that_a_verifier_would_refuse_is_not_minted(wrong):
    with pytest.raises(ValueError, match=r"\w"):  # or a subclass; each has a message
        mint_intent(SECRET, **{**CALL, "args": {}, **wrong})


@pytest.mark.parametrize("args_hash", [None, "", "0" * 63, "A" * 64])
def test_a_hash_in_place_of_arguments_has_to_be_well_formed(args_hash):
    with pytest.raises(ValueError, match="args_hash"):
        mint_intent(SECRET, **CALL, args_hash=args_hash)


def test_null_can_be_an_argument():
    assert mint_intent(SECRET, **CALL, args=None).payload["argsHash"] == args_hash(None)


def test_neither_repr_shows_the_header_or_the_payload():
    minted = mint_intent(SECRET, **CALL, args={})
    assert minted.header not in repr(minted)
    assert "user-1" not in repr(minted) + repr(read_intent(minted.payload, 2))


@pytest.mark.parametrize(
    ("change", "version"),
    [
        ({}, 2), ({"v": 2.0}, 2), ({"v": True}, None), ({"v": "2"}, None), ({"v": 1}, None), ({"v": 3}, None),
        ({"v": None}, None),
    ],
)  # fmt: skip
def test_only_the_number_2_is_version_two(change, version):
    assert detect_version({**V2, **change}) == version


@pytest.mark.parametrize("name", ["v", "sub", "aud", "operation", "argsHash", "nonce", "requiresStepUp"])
def test_a_version_one_payload_with_a_member_of_version_two_has_no_version(name):
    assert detect_version(V1) == 1
    assert detect_version({**V1, name: None}) is None


@pytest.mark.parametrize("version", [1, 2])
def test_the_error_for_a_missing_member_names_it(version):
    payload = V1 if version == 1 else V2
    for name in payload.keys() - {"v"}:
        for value in (None, True, [], "" if isinstance(payload[name], str) else "1"):
            with pytest.raises(Unreadable, match=name):
                read_intent({**payload, name: value}, version)
        with pytest.raises(Unreadable, match=name):
            read_intent({other: value for other, value in payload.items() if other != name}, version)


@pytest.mark.parametrize(("version", "wrong"), [(1, {"userId": None}), (1, {"userId": 7}), (2, {"requiresStepUp": 1})])
def test_an_optional_member_of_the_wrong_type_is_refused(version, wrong):
    with pytest.raises(Unreadable):
        read_intent({**(V1 if version == 1 else V2), **wrong}, version)


def test_an_anonymous_version_one_intent_has_no_user():
    assert read_intent(V1, 1).sub is None
    assert read_intent({**V1, "userId": "u"}, 1).sub == "u"


@pytest.mark.parametrize(("issued", "expires"), [(1e11, 2e11), (100_000_000_000, 10**300)])
def test_times_from_1e11_on_are_milliseconds(issued, expires):
    intent = read_intent({**V1, "issuedAt": issued, "expiresAt": expires}, 1)
    assert (intent.issued_at, intent.expires_at) == (issued / 1000, expires / 1000)


@pytest.mark.parametrize(("issued", "expires"), [(99_999_999_999, 1e11), (1e11, 0), (-1, 1e12)])
def test_times_in_different_units_are_malformed(issued, expires):
    with pytest.raises(Unreadable, match="units"):
        read_intent({**V1, "issuedAt": issued, "expiresAt": expires}, 1)


def test_signing_and_reading_have_the_same_limits():
    """The limits are the levels of nesting and the length of the header."""
    sign_payload(SECRET, {"a": functools.reduce(lambda inner, _: [inner], range(61), [])})
    with pytest.raises(ValueError, match="nested"):
        sign_payload(SECRET, {"a": functools.reduce(lambda inner, _: [inner], range(62), [])})
    assert len(sign_payload(SECRET, {"x": "x" * (6144 - 99)})) == 8192
    with pytest.raises(ValueError, match="8 KiB"):
        sign_payload(SECRET, {"x": "x" * (6145 - 99)})


@pytest.mark.parametrize("lifetime", [1, 900])
def test_a_lifetime_is_one_second_to_fifteen_minutes(lifetime):
    payload = mint_intent(SECRET, **CALL, args={}, lifetime=lifetime).payload
    assert payload["expiresAt"] - payload["issuedAt"] == lifetime


def test_a_payload_of_version_one_can_be_signed_too():
    assert open_header(sign_payload(SECRET, V1))["payload"] == V1
