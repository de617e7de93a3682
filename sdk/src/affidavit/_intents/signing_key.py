"""The key that signs payloads, made of a workspace's signing secret (contract §3, "Secrets")."""

import re
from hashlib import sha256

MIN_SECRET = 32
"""Bytes of a secret."""
SHOWN = 8
"""Characters of a secret that may be shown and reported: `gas_` and four more. 232 bits stay unknown."""

_WHITE_SPACE = re.compile(r"\s")
_BLOCK = 64
_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


class SigningKey:
    """HMAC-SHA256 under one key, of any length (RFC 2104).

    prefix: the first characters of the secret, to be shown to people.
    """

    __slots__ = ("_inner", "_outer", "prefix")

    def __init__(self, key: bytes, prefix: str = "") -> None:
        self.prefix = prefix
        block = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
        # Both pads are hashed here once. A signature then takes half the time of hmac.digest.
        self._inner = sha256(block.translate(_INNER_PAD))
        self._outer = sha256(block.translate(_OUTER_PAD))

    def sign(self, text: bytes) -> bytes:
        """Return the 32 bytes of the signature."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(text)
        outer.update(inner.digest())
        return outer.digest()


def build_signing_key(secret: str) -> SigningKey:
    """Return the key of a workspace's secret: the UTF-8 bytes of the whole string (contract §3).

    Raises ValueError for a secret that is empty, is short or holds white space. No message repeats the secret.
    """
    if not isinstance(secret, str) or not secret:
        raise ValueError("the signing secret is empty: give the one that was shown when the workspace was made")
    if _WHITE_SPACE.search(secret):
        raise ValueError("the signing secret holds white space: it was probably copied with a line end")
    key = secret.encode("utf-8", "surrogatepass")
    if len(key) < MIN_SECRET:
        raise ValueError(f"the signing secret is shorter than {MIN_SECRET} bytes: was it cut off?")
    return SigningKey(key, secret[:SHOWN] if secret.startswith("gas_") else "")
