"""The value of the header X-Service-Intent: seal a payload, open a received value (contract §3, "Signed text").

This module handles the text and the signature of a payload, and not what it means.
"""

import re
from base64 import urlsafe_b64encode
from binascii import a2b_base64, b2a_base64, unhexlify
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest

from affidavit._canonical import NotCanonical, ascii_json, canonical_json, compact_json
from affidavit._json import InvalidJson, Json, member_text, parse

from .signing_key import SigningKey

MAX_HEADER = 8 * 1024
"""Characters of a header value."""
MAX_ENVELOPE_DEPTH = 64
"""Levels of JSON in the envelope; the envelope itself is level 1."""

_PAYLOAD_DEPTH = MAX_ENVELOPE_DEPTH - 1

_WS = rb"[ \t\n\r]*"
_PAYLOAD = rb'"payload"' + _WS + rb":" + _WS + rb"(?P<payload>\{.*\})"
_SIGNATURE = rb'"signature"' + _WS + rb":" + _WS + rb'"(?P<signature>[0-9a-fA-F]{64})"'
_USUAL = re.compile(_WS.join([b"", rb"\{", _PAYLOAD, b",", _SIGNATURE, rb"\}", rb"\Z"]), re.DOTALL)
_HEX_64 = re.compile(r"[0-9a-fA-F]{64}")
_PADDING = (b"", b"===", b"==", b"=")


class Unreadable(ValueError):
    """A header is `malformed`. The message says what is wrong with it, and repeats none of it."""


@dataclass(slots=True)
class Envelope:
    """An opened header.

    text: the bytes of the payload, exactly as in the header.
    payload: the same, parsed.
    signature: 32 bytes.
    signed_with: the prefix of the key that made the signature, set once that key is found.
    """

    text: bytes
    payload: dict[str, Json]
    signature: bytes
    signed_with: str = field(default="", compare=False)


def seal(text: bytes, key: SigningKey) -> str:
    """Return the header value that carries the payload `text`, signed with `key`; base64url without padding."""
    signature = key.sign(text).hex().encode("ascii")
    envelope = b'{"payload":%b,"signature":"%b"}' % (text, signature)
    return urlsafe_b64encode(envelope).rstrip(b"=").decode("ascii")


def open_envelope(header: str) -> Envelope:
    """Read the envelope in a header value, by strict base64url and strict JSON. Raises Unreadable."""
    if len(header) > MAX_HEADER:
        raise Unreadable("the header is over 8 KiB")
    raw = _decode_base64url(header)
    usual = _USUAL.match(raw)
    if usual:
        text, signature = usual.group("payload", "signature")
    else:
        text, signature = _parse_any_envelope(raw)
    payload = _parse_strict(text, _PAYLOAD_DEPTH)
    if type(payload) is not dict:
        raise Unreadable("the payload is not a JSON object")
    return Envelope(text, payload, unhexlify(signature))


def find_signed_payload(envelope: Envelope, keys: Sequence[SigningKey]) -> dict[str, Json] | None:
    """Return the payload if one of `keys` signed it, parsed from the text that was signed; else None.

    Set `envelope.signed_with` to the prefix of that key.
    """
    signature = envelope.signature
    for key in keys:
        if compare_digest(key.sign(envelope.text), signature):
            envelope.signed_with = key.prefix
            return envelope.payload
    for text in _list_other_texts(envelope):
        for key in keys:
            if compare_digest(key.sign(text), signature):
                envelope.signed_with = key.prefix
                payload = _parse_strict(text, _PAYLOAD_DEPTH)
                return payload if type(payload) is dict else None
    return None


def _list_other_texts(envelope: Envelope) -> Iterator[bytes]:
    """Yield the texts that a signer may have signed if a program on the way has serialised the payload anew."""
    known_texts = {envelope.text}
    for form in (compact_json, canonical_json, ascii_json):
        try:
            text = form(envelope.payload)
        except NotCanonical:
            continue
        if text not in known_texts:
            known_texts.add(text)
            yield text


def _decode_base64url(header: str) -> bytes:
    """Decode strictly: the base64url alphabet, no or full padding, zeros in unused last bits. Raises Unreadable."""
    try:
        header_bytes = header.encode("ascii")
        base64_bytes = header_bytes.replace(b"-", b"+").replace(b"_", b"/") + _PADDING[len(header_bytes) % 4]
        raw = a2b_base64(base64_bytes, strict_mode=True)
    except ValueError:
        raise Unreadable("the header is not base64url") from None
    # The call above also accepts the standard base64 alphabet, half of the padding, and ones in the unused last bits.
    half_padded = len(header_bytes) % 4 and header_bytes.endswith(b"=")
    last = raw[-1 - (len(raw) - 1) % 3 :]
    if "+" in header or "/" in header or half_padded or b2a_base64(last, newline=False) != base64_bytes[-4:]:
        raise Unreadable("the header is not base64url, or not in its one canonical form")
    return raw


def _parse_strict(text: bytes, max_depth: int) -> Json:
    try:
        return parse(text, max_depth=max_depth)
    except InvalidJson as fault:
        raise Unreadable(f"the header is not strict JSON: {fault}") from None


def _parse_any_envelope(raw: bytes) -> tuple[bytes, bytes]:
    """Return the payload's text and the signature of an envelope, however it is written. Raises Unreadable."""
    envelope = _parse_strict(raw, MAX_ENVELOPE_DEPTH)
    if not isinstance(envelope, dict) or envelope.keys() != {"payload", "signature"}:
        raise Unreadable("the header is not a JSON object with exactly the members payload and signature")
    signature = envelope["signature"]
    if not isinstance(signature, str) or not _HEX_64.fullmatch(signature):
        raise Unreadable("the signature is not 64 hex digits")
    return member_text(raw.decode("utf-8"), "payload").encode("utf-8"), signature.encode("ascii")
