"""A passkey in software. It answers like `navigator.credentials` of a browser, in WebAuthn's JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

PRESENT_AND_VERIFIED = 0x01 | 0x04
ATTESTED = 0x40


class Passkey:
    """One key of one device, for the site `host`."""

    def __init__(self, host: str = "testserver", scheme: str = "https") -> None:
        self.host, self.scheme = host, scheme
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.credential_id = os.urandom(16)
        self.uses = 0

    def create(self, options: Mapping[str, Any]) -> str:
        """Return the answer to `creation_options`, as JSON."""
        public = ES256.from_cryptography_key(self.key.public_key())
        attested = AttestedCredentialData.create(b"\0" * 16, self.credential_id, public)
        data = AuthenticatorData.create(self._site(), PRESENT_AND_VERIFIED | ATTESTED, 0, bytes(attested))
        attestation = AttestationObject.create("none", data, {})
        client_data = self._client_data("webauthn.create", options["publicKey"]["challenge"])
        return self._answer(clientDataJSON=client_data, attestationObject=bytes(attestation))

    def get(self, options: Mapping[str, Any]) -> str:
        """Return the answer to `request_options`, as JSON."""
        self.uses += 1
        data = bytes(AuthenticatorData.create(self._site(), PRESENT_AND_VERIFIED, self.uses))
        client_data = self._client_data("webauthn.get", options["publicKey"]["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client_data, authenticatorData=data, signature=signature)

    def _site(self) -> bytes:
        return hashlib.sha256(self.host.encode()).digest()

    def _client_data(self, kind: str, challenge: str) -> bytes:
        origin = f"{self.scheme}://{self.host}"
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()

    def _answer(self, **response: bytes) -> str:
        name = websafe_encode(self.credential_id)
        members = {key: websafe_encode(value) for key, value in response.items()}
        answer = {"id": name, "rawId": name, "type": "public-key", "response": members, "clientExtensionResults": {}}
        return json.dumps(answer)
