"""The file of a backup: a dump in pg_dump's custom format, followed by a ZIP of its manifest and the secret key.

pg_restore reads such a file as a dump, and every ZIP program as a ZIP.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cryptography.fernet import InvalidToken

from hub.local.startup_errors import StartupError
from wire.at_rest.encryption import build_cipher

MANIFEST, KEY = "manifest.json", "secret.key"
SEALED_TEXT = b"affidavit backup"
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """The description of a backup.

    sealed: a fixed text encrypted under SECRET_KEY, which shows whether a key fits.
    """

    affidavit: str
    made_at: str
    pg_dump: int
    migrations: Sequence[tuple[str, str]]
    rows: Mapping[str, int]
    dump_bytes: int
    dump_sha256: str
    sealed: str


@dataclass(frozen=True)
class Archive:
    """A backup that was read from its file.

    secret_key: the key in the backup; None if it was left out.
    """

    path: Path
    manifest: Manifest
    secret_key: str | None

    def fits(self, *secret_keys: str) -> bool:
        """Return whether one of these keys decrypts the secrets in the backup."""
        try:
            build_cipher(*secret_keys).decrypt(self.manifest.sealed.encode())
        except InvalidToken:
            return False
        return True


def seal(secret_key: str) -> str:
    return build_cipher(secret_key).encrypt(SEALED_TEXT).decode()


def complete_archive(path: Path, manifest: Manifest, secret_key: str | None) -> None:
    """Append the manifest to a dump, and the key unless it is None."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(MANIFEST, json.dumps(asdict(manifest)))
        if secret_key is not None:
            archive.writestr(KEY, secret_key)


def read_archive(path: Path) -> Archive:
    """Read a backup, and check the digest of its dump. Raises StartupError."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = json.loads(archive.read(MANIFEST))
            secret_key = archive.read(KEY).decode() if KEY in archive.namelist() else None
        migrations = [(app, name) for app, name in members.pop("migrations")]
        manifest = Manifest(**members, migrations=migrations)
        is_whole = hash_dump(path, manifest.dump_bytes) == manifest.dump_sha256
    except OSError as error:
        cure = "Name a file that `manage.py backup` wrote."
        raise StartupError(f"{path}: cannot be read ({error.strerror or error}). {cure}") from None
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError):
        raise StartupError(f"{path} is not a backup by `manage.py backup`, or a part of it is missing.") from None
    if not is_whole:
        raise StartupError(f"{path} is damaged: its content is not what was written. Use another copy or backup.")
    return Archive(path, manifest, secret_key)


def hash_dump(path: Path, size: int) -> str:
    """Return the SHA-256 of the first `size` bytes of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (chunk := file.read(min(size, CHUNK_BYTES))):
            digest.update(chunk)
            size -= len(chunk)
    return digest.hexdigest()
