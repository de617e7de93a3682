"""Checks of this machine: its disk and its static files."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin

from hub.doctor.result import Result
from hub.health import LEAST_FREE_BYTES
from hub.local.compressed_static_files import HashedNames, compute_fingerprint, read_stamp
from wire.format_numbers import count_noun

COMFORTABLE_BYTES = 16 * LEAST_FREE_BYTES  # enough for growth and for a migration that writes a table anew
MEBIBYTE = 1024 * 1024


def check_disk() -> Result:
    """Check the free space of the data directory. The disk of a database on another machine cannot be checked."""
    free = shutil.disk_usage(settings.HUB_DATA_DIR).free
    least = LEAST_FREE_BYTES if settings.DATABASE_URL else COMFORTABLE_BYTES
    detail = f"{free // MEBIBYTE:,} MiB are free on the disk of {settings.HUB_DATA_DIR}"
    if free < least:
        return Result(
            "wrong",
            f"{detail}; less than {least // MEBIBYTE:,} MiB is too little.",
            "Free space there: with too little, writes are answered 503.",
        )
    return Result("ok", f"{detail}.")


def check_static_files() -> Result:
    """Check that scripts and styles are complete, and were built from the files of this version."""
    cure = "Run `manage.py build_static`, then restart the web server."
    root = Path(settings.STATIC_ROOT)
    if read_stamp(root) != compute_fingerprint():
        return Result("wrong", f"{root} is missing or of another version: pages have no style.", cure)
    names = read_names(root)
    missing = [name for name in names if not (root / name).exists()]
    if missing:
        return Result("wrong", f"Missing in {root}: {count_noun(len(missing), 'file')}, such as {missing[0]}.", cure)
    return Result("ok", f"{len(names)} files, of this version.")


def read_names(root: Path) -> list[str]:
    """Return the hashed names that pages refer to."""
    storage: ManifestFilesMixin = HashedNames(location=root)
    return sorted(storage.hashed_files.values())
