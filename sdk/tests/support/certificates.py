"""Self-signed certificates for a hub on this machine. They need the package cryptography."""

import importlib
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path


def write_certificate(path: Path) -> Path:
    """Write a certificate for 127.0.0.1 and its key as PEM; return the path. Raises ImportError without the package."""
    x509 = importlib.import_module("cryptography.x509")
    ec = importlib.import_module("cryptography.hazmat.primitives.asymmetric.ec")
    hashes = importlib.import_module("cryptography.hazmat.primitives.hashes")
    serialization = importlib.import_module("cryptography.hazmat.primitives.serialization")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, path.stem)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + signed.public_bytes(pem))
    return path
