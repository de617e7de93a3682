"""The header of an intent: canonical base64url, strict JSON, and a signature over the exact text of the payload."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import require_shared

from affidavit._intents.envelope import Unreadable, find_signed_payload, open_envelope, seal
from affidavit._intents.signing_key import SigningKey, build_signing_key

SECRET = "gas_" + "s" * 43
ENVELOPE = '{{"payload":{{"x":"{}"}},"signature":"{}"}}'


def encode(envelope: str) -> str:
    return base64.urlsafe_b64encode(envelope.encode()).decode()


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
