"""Signers in several languages, and payloads that were written anew between signer and verifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from .headers import SECRET, Payload, Vector, accepted, base64url, compact, envelope, rejected, signature, unsealed, v2
from .interpreters import job, run

ODD = v2(sub='für Ömer 😀 / \\ "', note="\u20ac", attempt=3, share=0.1, ratio=1e-7, large=1e21, final=True)
"""Members whose text depends on the language: escapes, slashes, numbers at the edges of the plain notation."""
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


def vectors(committed: Mapping[str, str]) -> Iterator[Vector]:
    """committed: the header of each vector as it stands, kept where its signer's interpreter is missing."""
    foreign = Foreign(committed)
    for signer, (what, payload) in SIGNERS.items():
        name = f"signer-{signer.replace(' ', '-').replace('.', '-').lower()}"
        made = foreign.header(f"accepted/{name}", signer, job(SECRET, payload))
        yield accepted(name, f"Signed by {what}.", payload, made, signer=signer)
    yield from _written_by_node(foreign)
    yield from _signed_by_node(foreign)
    yield from _accepted_without_interpreters()
    yield from _rejected_without_interpreters()


class Foreign:
    """Headers from other languages; what is committed where an interpreter is missing."""

    def __init__(self, committed: Mapping[str, str]) -> None:
        self._committed = committed

    def header(self, name: str, signer: str, text: str, then: Callable[[str], str] = str) -> str:
        """What the signer makes of `text`, and `then` of that: the header of the vector `name`."""
        written = run(signer, text)
        return self._committed[name] if written is None else then(written.strip())


def _written_by_node(foreign: Foreign) -> Iterator[Vector]:
    gateway = "node_gateway.mjs"
    ascii_only = "Signed with ASCII only (form 4), then written in UTF-8 by a gateway."
    made = foreign.header("accepted/gateway-node-ascii", gateway, base64url(envelope(_ascii(PLAIN))))
    yield accepted("gateway-node-ascii", ascii_only, PLAIN, made, signer=gateway)
    text = compact(_in_order(PLAIN))
    made = foreign.header("accepted/gateway-node-sorted", gateway, base64url(envelope(text)))
    yield accepted("gateway-node-sorted", "Signed in RFC 8785 form, then written anew.", PLAIN, made, signer=gateway)
    spaced = json.dumps(PLAIN).encode()
    made = foreign.header("bad-signature/gateway-node-spaces", gateway, base64url(envelope(spaced)))
    description = "Signed with spaces after separators, then written without: no form is what was signed."
    yield rejected("bad-signature", "gateway-node-spaces", description, made, signer=gateway)


def _signed_by_node(foreign: Foreign) -> Iterator[Vector]:
    """What JSON.stringify signed, with the payload written anew by a gateway in Python."""
    signer, description = "node.mjs", "Signed by JSON.stringify (form 2), then written anew: "
    for name, what, payload, rewrite in GATEWAYS:
        name = f"gateway-python-{name}"
        sent = foreign.header(f"accepted/{name}", signer, job(SECRET, payload), partial(_written_anew, rewrite))
        yield accepted(name, f"{description}{what}.", payload, sent, signer=signer)
    name, rewrite = "gateway-python-sorted", partial(json.dumps, sort_keys=True)
    sent = foreign.header(f"bad-signature/{name}", signer, job(SECRET, PLAIN), partial(_written_anew, rewrite))
    description += "sorted, so that the order that was signed is lost."
    yield rejected("bad-signature", name, description, sent, signer=signer)


def _written_anew(rewrite: Callable[[Payload], str], header: str) -> str:
    opened = json.loads(unsealed(header))
    return base64url(f'{{"payload": {rewrite(opened["payload"])}, "signature": "{opened["signature"]}"}}'.encode())


def _indexes_last(payload: Payload) -> str:
    """With those names last that JavaScript writes first."""
    indexes = ("4294967294", "10", "9")
    others = {name: value for name, value in payload.items() if name not in indexes}
    return json.dumps({**others, **{name: payload[name] for name in indexes}})


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
    named = {**PLAIN, "€": 1, "\U0001f600": 2, "\ufb33": 3}
    canonical = compact({**_in_order(PLAIN), "€": 1, "\U0001f600": 2, "\ufb33": 3})
    sent = base64url(envelope(json.dumps(dict(reversed(named.items()))).encode(), canonical))
    description = "Signed in RFC 8785 form (form 3), then written in another order, with spaces."
    yield accepted("gateway-shuffled", description, named, sent)
    delete = v2(sub="\x7f\x80")
    sent = base64url(envelope(compact(delete), _ascii(delete)))
    description = "Form 4 as Python writes it: DEL is escaped too, as all that is not printable ASCII."
    yield accepted("gateway-delete-character", description, delete, sent)


def _rejected_without_interpreters() -> Iterator[Vector]:
    sent = base64url(envelope(json.dumps(dict(reversed(PLAIN.items()))).encode(), compact(PLAIN)))
    description = "Signed in the order of its members, then shuffled: the order that was signed is lost."
    yield rejected("bad-signature", "gateway-shuffled", description, sent)
    indented = json.dumps({"payload": PLAIN, "signature": signature(json.dumps(PLAIN, indent=2).encode())}, indent=2)
    description = "The payload was signed indented, then indented once more as a part of the envelope."
    yield rejected("bad-signature", "indented-with-the-envelope", description, base64url(indented.encode()))
    upper = _ascii(PLAIN).replace(b"\\u00fc", b"\\u00FC")
    description = "Form 4 has lower-case hex digits; this was signed with upper-case ones."
    yield rejected("bad-signature", "upper-case-escapes", description, base64url(envelope(compact(PLAIN), upper)))


def _ascii(payload: Payload) -> bytes:
    return json.dumps(payload, separators=(",", ":")).encode()


def _in_order(payload: Payload) -> Payload:
    return dict(sorted(payload.items()))
