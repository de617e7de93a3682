"""Signers in several languages, and payloads that were rewritten between signer and verifier.

The forms 1 to 4 are the texts for which a verifier tries the signature (contract §3, "Signed text").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from .build_vectors import (
    SECRET,
    Payload,
    Vector,
    accept,
    base64url,
    compact_json,
    decode_header,
    envelope,
    reject,
    signature,
    v2,
)
from .interpreters import build_job, run_signer

ODD = v2(sub='für Ömer 😀 / \\ "', note="\u20ac", attempt=3, share=0.1, ratio=1e-7, large=1e21, final=True)
"""Members whose text depends on the language: escapes, slashes, numbers at the limits of plain notation."""
PLAIN = v2(sub="für Ömer 😀", requiresStepUp=False)
INDEXES = {"b": 1, "10": 2, "9": 3, "01": 4, "4294967295": 5, "4294967294": 6, "a": 7, "-1": 8}

SIGNERS = {
    "node.mjs": ("JSON.stringify of Node", ODD),
    "python.py default": ("json.dumps of Python: spaces after separators, ASCII only", ODD),
    "python.py utf-8": ("json.dumps of Python: spaces after separators, UTF-8", ODD),
    "python.py compact": ("json.dumps of Python: no spaces, ASCII only", ODD),
    "python.py sorted": ("json.dumps of Python: sorted names, no spaces, UTF-8", ODD),
    "python.py pretty": ("json.dumps of Python: indented", ODD),
    "perl.pl": ("JSON::PP of Perl: sorted names", PLAIN),
    "perl.pl ascii": ("JSON::PP of Perl: sorted names, ASCII only", PLAIN),
    "Signer.java": ("Java: text by hand, base64url with padding", PLAIN),
}


def vectors(committed_headers: Mapping[str, str]) -> Iterator[Vector]:
    """Yield the vectors.

    committed_headers: the header of each vector by its id, used if the interpreter of its signer is missing.
    """
    signers = ForeignSigners(committed_headers)
    for signer, (label, payload) in SIGNERS.items():
        name = f"signer-{signer.replace(' ', '-').replace('.', '-').lower()}"
        value = signers.header(f"accepted/{name}", signer, build_job(SECRET, payload))
        yield accept(name, f"Signed by {label}.", payload, value, signer=signer)
    yield from _written_by_node(signers)
    yield from _signed_by_node(signers)
    yield from _accepted_without_interpreters()
    yield from _rejected_without_interpreters()


class ForeignSigners:
    """Headers from other languages; the committed ones if an interpreter is missing."""

    def __init__(self, committed_headers: Mapping[str, str]) -> None:
        self._committed_headers = committed_headers

    def header(self, name: str, signer: str, text: str, transform: Callable[[str], str] = str) -> str:
        """Return the header of the vector `name`: the signer's output for `text`, changed by `transform`."""
        output = run_signer(signer, text)
        return self._committed_headers[name] if output is None else transform(output.strip())


def _written_by_node(signers: ForeignSigners) -> Iterator[Vector]:
    gateway = "node_gateway.mjs"
    ascii_only = "Signed with ASCII only (form 4), then written in UTF-8 by a gateway."
    value = signers.header("accepted/gateway-node-ascii", gateway, base64url(envelope(_ascii(PLAIN))))
    yield accept("gateway-node-ascii", ascii_only, PLAIN, value, signer=gateway)
    text = compact_json(_in_order(PLAIN))
    value = signers.header("accepted/gateway-node-sorted", gateway, base64url(envelope(text)))
    yield accept("gateway-node-sorted", "Signed in RFC 8785 form, then written anew.", PLAIN, value, signer=gateway)
    spaced_text = json.dumps(PLAIN).encode()
    value = signers.header("bad-signature/gateway-node-spaces", gateway, base64url(envelope(spaced_text)))
    description = "Signed with spaces after separators, then written without them: no form is the signed text."
    yield reject("bad-signature", "gateway-node-spaces", description, value, signer=gateway)


def _signed_by_node(signers: ForeignSigners) -> Iterator[Vector]:
    """Yield payloads that JSON.stringify signed and a gateway in Python rewrote."""
    signer, description = "node.mjs", "Signed by JSON.stringify (form 2), then written anew: "
    for name, label, payload, rewrite in GATEWAYS:
        name = f"gateway-python-{name}"
        value = signers.header(
            f"accepted/{name}", signer, build_job(SECRET, payload), partial(_rewrite_payload, rewrite)
        )
        yield accept(name, f"{description}{label}.", payload, value, signer=signer)
    name, rewrite = "gateway-python-sorted", partial(json.dumps, sort_keys=True)
    job = build_job(SECRET, PLAIN)
    value = signers.header(f"bad-signature/{name}", signer, job, partial(_rewrite_payload, rewrite))
    description += "sorted, so that the order that was signed is lost."
    yield reject("bad-signature", name, description, value, signer=signer)


def _rewrite_payload(rewrite: Callable[[Payload], str], header: str) -> str:
    sent_envelope = json.loads(decode_header(header))
    return base64url(
        f'{{"payload": {rewrite(sent_envelope["payload"])}, "signature": "{sent_envelope["signature"]}"}}'.encode()
    )


def _indexes_last(payload: Payload) -> str:
    """Return the payload as JSON, with those names at the end that JavaScript writes first."""
    indexes = ("4294967294", "10", "9")
    other_members = {name: value for name, value in payload.items() if name not in indexes}
    return json.dumps({**other_members, **{name: payload[name] for name in indexes}})


GATEWAYS: tuple[tuple[str, str, Payload, Callable[[Payload], str]], ...] = (
    ("spaces-and-ascii", "with spaces, ASCII only, other exponents", ODD, json.dumps),
    ("indented", "indented", ODD, partial(json.dumps, indent=1)),
    (
        "needless-escapes",
        "with escapes that nobody needs",
        PLAIN,
        lambda payload: json.dumps(payload).replace("/", "\\/").replace("user", "\\u0075ser"),
    ),
    (
        "other-numbers",
        "with numbers in other notations",
        v2(share=0.5, attempt=100, none=0),
        lambda payload: json.dumps(payload).replace("0.5", "5.0E-1").replace(" 100,", "1e2,").replace(" 0}", "-0.0}"),
    ),
    ("indexes-in-order", "with the names last that JavaScript writes first", v2(**INDEXES), _indexes_last),
)


def _accepted_without_interpreters() -> Iterator[Vector]:
    payload = {**PLAIN, "€": 1, "\U0001f600": 2, "\ufb33": 3}
    canonical = compact_json({**_in_order(PLAIN), "€": 1, "\U0001f600": 2, "\ufb33": 3})
    value = base64url(envelope(json.dumps(dict(reversed(payload.items()))).encode(), canonical))
    description = "Signed in RFC 8785 form (form 3), then written in another order, with spaces."
    yield accept("gateway-shuffled", description, payload, value)
    delete = v2(sub="\x7f\x80")
    value = base64url(envelope(compact_json(delete), _ascii(delete)))
    description = "Form 4 as Python writes it: DEL is escaped too, as all that is not printable ASCII."
    yield accept("gateway-delete-character", description, delete, value)


def _rejected_without_interpreters() -> Iterator[Vector]:
    value = base64url(envelope(json.dumps(dict(reversed(PLAIN.items()))).encode(), compact_json(PLAIN)))
    description = "Signed in the order of its members, then shuffled: the order that was signed is lost."
    yield reject("bad-signature", "gateway-shuffled", description, value)
    indented_envelope = json.dumps(
        {"payload": PLAIN, "signature": signature(json.dumps(PLAIN, indent=2).encode())}, indent=2
    )
    description = "The payload was signed indented, then indented once more as a part of the envelope."
    yield reject("bad-signature", "indented-with-the-envelope", description, base64url(indented_envelope.encode()))
    upper = _ascii(PLAIN).replace(b"\\u00fc", b"\\u00FC")
    description = "Form 4 has lower-case hex digits; this was signed with upper-case ones."
    yield reject("bad-signature", "upper-case-escapes", description, base64url(envelope(compact_json(PLAIN), upper)))


def _ascii(payload: Payload) -> bytes:
    return json.dumps(payload, separators=(",", ":")).encode()


def _in_order(payload: Payload) -> Payload:
    return dict(sorted(payload.items()))
