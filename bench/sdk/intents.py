"""Compare verifying an intent with PyJWT's decode, and hashing arguments with json.loads and rfc8785."""

from __future__ import annotations

import json
import time

import jwt
import rfc8785

from affidavit import IntentVerifier, MintedIntent, mint_intent
from affidavit._intents.args import request_args
from bench._support.measure import measure_medians
from bench._support.result_table import Row, print_table

SECRET = "gas_" + "A" * 43
WORKSPACE = "ws_0123456789abcdef"
AUDIENCE = f"urn:affidavit:{WORKSPACE}:production"
LIMIT_VERIFY, LIMIT_ARGS = 0.30, 0.45

PRICES = (12.5, 8.95, 20, 7.05, 31.9, 15, 4.5, 9.99, 11.25)
ARGUMENTS = {
    "customer": {"id": "c-1042", "name": "Ömer Öztürk", "email": "omer@example.org", "since": 2019},
    "lines": [
        {"sku": f"B-{number:04}", "title": f"Collected letters, volume {number}", "quantity": number, "price": price}
        for number, price in enumerate(PRICES, start=1)
    ],
    "note": "Please wrap the first one as a gift; für Ömer.",
    "express": False,
    "voucher": None,
}


class AcceptAllNonces:
    """A nonce store that accepts every nonce, so that the time of a real store is not measured."""

    def burn(self, workspace: str, nonce: str, expires_at: float, *, now: float) -> bool:
        return True

    def is_burnt(self, workspace: str, nonce: str) -> bool:
        return False


def mint_bench_intent() -> MintedIntent:
    """Return an intent for a call without arguments; its payload has some 350 bytes."""
    return mint_intent(
        SECRET, tenant_id=WORKSPACE, sub="user-42", aud=AUDIENCE, operation="GET /orders/17", args={}, lifetime=900
    )


def measure_verification() -> Row:
    intent = mint_bench_intent()
    verifier = IntentVerifier(secrets=SECRET, workspace=WORKSPACE, audience=AUDIENCE, nonces=AcceptAllNonces())
    now = int(time.time())
    claims = {**intent.payload, "iat": now, "exp": now + 900}
    del claims["issuedAt"], claims["expiresAt"]
    token = jwt.encode(claims, SECRET, algorithm="HS256")
    times = measure_medians(
        {
            "ours": lambda: verifier.verify(intent.header, "GET", "/orders/17"),
            "peer": lambda: jwt.decode(token, SECRET, algorithms=["HS256"], audience=AUDIENCE),
        }
    )
    size = len(json.dumps(intent.payload, separators=(",", ":")))
    return _build_row(f"verify, payload of {size} bytes", times, "PyJWT decode", LIMIT_VERIFY)


def measure_hashing(notation: str, body: bytes, limit: float | None = None) -> Row:
    times = measure_medians(
        {
            "ours": lambda: request_args(body, "application/json"),
            "peer": lambda: rfc8785.dumps(json.loads(body)),
        }
    )
    return _build_row(f"args hash of {len(body)} bytes, {notation}", times, "json.loads + rfc8785.dumps", limit)


def encode_arguments() -> tuple[bytes, bytes]:
    """Return the same arguments twice: with `20` as JavaScript writes it, and with `20.0` as Python does.

    The second form takes longer to hash.
    """
    text = json.dumps(ARGUMENTS, ensure_ascii=False)
    return text.encode(), text.replace('"price": 20}', '"price": 20.0}').encode()


def _build_row(label: str, times: dict[str, float], peer: str, limit: float | None) -> Row:
    return Row(label, f"{times['ours']:.1f} µs", f"{peer} {times['peer']:.1f} µs", times["ours"] / times["peer"], limit)


if __name__ == "__main__":
    integer_body, float_body = encode_arguments()
    print_table(
        [measure_verification(), measure_hashing("20", integer_body, LIMIT_ARGS), measure_hashing("20.0", float_body)]
    )
