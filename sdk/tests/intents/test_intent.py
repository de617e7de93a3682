import base64
import functools
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import require_shared

from affidavit._intents.args import args_hash
from affidavit._intents.envelope import Unreadable, find_signed_payload, open_envelope, seal
from affidavit._intents.intent import detect_version, mint_intent, read_intent, sign_payload
from affidavit._intents.signing_key import SigningKey, build_signing_key

SECRET = "gas_" + "s" * 43
CALL = {"tenant_id": "lumen", "sub": "user-1", "aud": "https://api.lumen.example", "operation": "POST /orders"}
V1 = {
    "toolCallId": "call-1", "tenantId": "lumen", "method": "GET", "path": "/", "issuedAt": 1, "expiresAt": 2,
}  # fmt: skip
V2 = mint_intent(SECRET, **CALL, args={}, now=1_800_000_000).payload


ENVELOPE = '{{"payload":{{"x":"{}"}},"signature":"{}"}}'


def encode(envelope: str) -> str:
    return base64.urlsafe_b64encode(envelope.encode()).decode()


def open_header(header: str) -> dict:
    return json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))


def test_signatures_agree_with_wycheproof():
    groups = json.loads(require_shared("vectors/hmac_sha256_test.json").read_text())["testGroups"]
    cases = [(group["tagSize"], case) for group in groups for case in group["tests"]]
    assert len(cases) == 174
    for tag_size, case in cases:
        signature = SigningKey(bytes.fromhex(case["key"])).sign(bytes.fromhex(case["msg"]))
        whole = tag_size == 256
        assert (signature.hex() == case["tag"]) is (whole and case["result"] == "valid")
        if not whole:  # a shortened signature is refused because of its length
            with pytest.raises(Unreadable):
                open_envelope(encode(ENVELOPE.format("", case["tag"])))


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


@given(st.binary(max_size=60))
def test_only_canonical_base64url_is_opened(raw):
    text = encode(ENVELOPE.format(raw.hex(), "0" * 64))
    assert open_envelope(text) == open_envelope(text.rstrip("="))
    for wrong in (text + "=", text.rstrip("=") + "=" * (3 + len(text) % 2), text + "\n", " " + text, text + "A"):
        if wrong != text:
            with pytest.raises(Unreadable):
                open_envelope(wrong)


def test_only_the_url_alphabet_with_complete_padding_is_accepted():
    for filler in ("", "x", "xx"):
        bare = encode(ENVELOPE.format(f"~~~???{filler}", "0" * 64)).rstrip("=")
        assert {"-", "_"} <= set(bare)
        assert open_envelope(bare)
        wrong = [bare.replace("-", "+"), bare.replace("_", "/"), f"{bare[:4]}!!!!{bare[4:]}", f"{bare[:4]}\n{bare[4:]}"]
        for text in [*wrong, bare + "="] if len(bare) % 4 != 3 else wrong:
            with pytest.raises(Unreadable):
                open_envelope(text)


def test_a_header_has_no_padding():
    key = build_signing_key(SECRET)
    assert not [header for length in range(3) if "=" in (header := seal(b'{"a":"%b"}' % (b"x" * length), key))]


def test_bits_left_over_at_the_end_are_refused():
    for filler in ("", "x", "xx"):
        text = encode(ENVELOPE.format(filler, "0" * 64))
        bare = text.rstrip("=")
        altered_headers = [bare[:-1] + last for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if bare[:-1] + last != bare]
        for other in altered_headers:
            with pytest.raises(Unreadable):
                open_envelope(other)


@pytest.mark.parametrize(
    "envelope",
    [
        '{"payload":%s,"signature":"%s"}',
        ' {\n "payload" : %s , "signature" : "%s" } ',
        '{"p\\u0061yload":%s,"signature":"%s"}',
    ],
)
def test_the_signature_covers_the_exact_text_of_the_payload(envelope):
    text = '{"b": 1.50, "a": "\\u00e9\\/"}'
    key = build_signing_key(SECRET)
    raw = (envelope % (text, key.sign(text.encode()).hex().upper())).encode()
    result = open_envelope(base64.urlsafe_b64encode(raw).decode())
    assert result.text == text.encode()
    assert find_signed_payload(result, [key]) == {"b": 1.5, "a": "é/"}
    swapped = f'{{"signature":"{result.signature.hex()}", "payload":{text}}}'.encode()
    assert open_envelope(base64.urlsafe_b64encode(swapped).decode()) == result


@pytest.mark.parametrize(
    ("payload", "signed"),
    [
        ('{"b": 1.50, "a": "\\u00e9"}', '{"b":1.5,"a":"é"}'),
        ('{"b": 1.50, "a": "\\u00e9"}', '{"a":"é","b":1.5}'),
        ('{"b": 1.50, "a": "é"}', '{"b":1.5,"a":"\\u00e9"}'),
        ('{"b": 12345678901234567890}', '{"b":12345678901234567000}'),
        ('{"b": 9007199254740993, "a": "é"}', '{"b":9007199254740992,"a":"\\u00e9"}'),  # has no canonical form
    ],
)
def test_a_reserialised_payload_is_verified_and_parsed_as_it_was_signed(payload, signed):
    key = build_signing_key(SECRET)
    raw = f'{{"payload":{payload},"signature":"{key.sign(signed.encode()).hex()}"}}'.encode()
    result = open_envelope(base64.urlsafe_b64encode(raw).decode())
    assert find_signed_payload(result, [key]) == json.loads(signed)
    assert result.signed_with == SECRET[:8]
    assert find_signed_payload(result, [build_signing_key("o" * 32)]) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{}", b"[]", b"null",
        b'{"payload":{}}', b'{"payload":[],"signature":"S"}',
        b'{"payload":"{}","signature":"S"}', b'{"payload":{},"signature":"S","x":1}',
        b'{"payload":{},"payload":{},"signature":"S"}',
        b'{"payload":{"a":1,"a":1},"signature":"S"}', b'{"payload":{"a":{"b":1,"b":1}},"signature":"S"}',
        b'{"payload":{"a":"\\ud800"},"signature":"S"}', b'{"payload":{"a":NaN},"signature":"S"}',
        b'{"payload":{"a":"\xff"},"signature":"S"}', b'\xef\xbb\xbf{"payload":{},"signature":"S"}',
        b'{"payload":{},"signature":"S"}{}', b'{"payload":{},"signature":"Sa"}', b'{"payload":{},"signature":7}',
        b'{"payload":{"a":' + b"[" * 63 + b"]" * 63 + b'},"signature":"S"}', b'{"payload":{},"signature":"S",}',
    ],
)  # fmt: skip
def test_an_envelope_that_is_not_strict_is_unreadable(raw):
    raw = raw.replace(b'"S', b'"' + b"0" * 64)
    with pytest.raises(Unreadable):
        open_envelope(base64.urlsafe_b64encode(raw).decode())


def test_nesting_of_64_levels_is_still_read():
    raw = b'{"payload":{"a":' + b"[" * 62 + b"]" * 62 + b'},"signature":"' + b"0" * 64 + b'"}'
    assert open_envelope(base64.urlsafe_b64encode(raw).decode())


def test_a_header_of_8_kib_is_read_and_a_longer_header_is_refused():
    key = build_signing_key(SECRET)
    longest = seal(b'{"x":"%b"}' % (b"x" * (6144 - 99)), key)
    assert len(longest) == 8192
    assert open_envelope(longest)
    with pytest.raises(Unreadable):
        open_envelope(seal(b'{"x":"%b"}' % (b"x" * (6145 - 99)), key))


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
