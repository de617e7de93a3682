"""Static files with hashed names and compressed copies, built at installation, and at a start if they are out of date.

They are built in a new folder, which then replaces the old one. So a full disk leaves no half-written file behind,
which browsers would keep for years.

The new folder also has the hashed files of the version before: web processes of that version, and pages that are open
in browsers, go on using them.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.management.commands.collectstatic import Command
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.management import call_command
from whitenoise.compress import Compressor

from hub.local.startup_errors import StartupError

STAMP = "built-from.sha256"
BROTLI_QUALITY = 9  # 0.5 s for plotly.js; the highest quality takes 9 s and saves a tenth


class QuickCompressor(Compressor):  # type: ignore[misc]  # whitenoise has no types
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        return bytes(brotli.compress(data, quality=BROTLI_QUALITY))


class HashedNames(ManifestStaticFilesStorage):
    """Put a hash of the content into each name, and compressed copies beside each file.

    Contents are not rewritten: our files do not refer to each other.
    """

    patterns = ()

    def post_process(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        compressor = QuickCompressor(quiet=True)
        for name, hashed_name, result in super().post_process(*args, **kwargs):
            if result and hashed_name and compressor.should_compress(hashed_name):
                compressor.compress(self.path(hashed_name))
            yield name, hashed_name, result


def build() -> None:
    """Build the static files of this version, unless they are there. Raises StartupError if they cannot be written."""
    with _explain_unwritable():
        _build(Path(settings.STATIC_ROOT))


def refuse_old_files() -> None:
    """Raise StartupError unless the static files of this version are there: without them, each page is an error."""
    with _explain_unwritable():  # the parts of a bundle are joined for the comparison
        are_old = read_stamp(Path(settings.STATIC_ROOT)) != compute_fingerprint()
    if are_old:
        raise StartupError("the static files of this version are missing. Run `manage.py prepare` first.")


@contextmanager
def _explain_unwritable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise
        # Not `make .venv/.run`: by the times of files that an archive brought, make may think that nothing is new.
        cure = "Run `.venv/bin/python manage.py build_static` in the project's folder, as its owner."
        raise StartupError(f"the static files cannot be written ({error.strerror or error}). {cure}") from None


def _build(root: Path) -> None:
    fingerprint = compute_fingerprint()
    if read_stamp(root) == fingerprint:
        return
    with lock_folder(root):
        if read_stamp(root) == fingerprint:  # another process has built them meanwhile
            return
        new_root, old_root = root.with_name(f"{root.name}.new"), root.with_name(f"{root.name}.old")
        for folder in (new_root, old_root):
            shutil.rmtree(folder, ignore_errors=True)
        command = Command()
        command.storage = HashedNames(location=new_root)
        call_command(command, verbosity=0, interactive=False)
        keep_hashed_files(root, new_root)
        (new_root / STAMP).write_text(fingerprint)
        if root.exists():
            root.rename(old_root)
        new_root.rename(root)
        shutil.rmtree(old_root, ignore_errors=True)


def keep_hashed_files(old_root: Path, new_root: Path) -> None:
    """Copy the files that pages of the version before refer to, and their compressed copies, into the new folder."""
    for name in HashedNames(location=old_root).hashed_files.values():
        for copy in (name, f"{name}.br", f"{name}.gz"):
            old_file, new_file = old_root / copy, new_root / copy
            if old_file.exists() and not new_file.exists():
                new_file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(old_file, new_file)  # not a link, which some file systems refuse


def compute_fingerprint() -> str:
    """Return a digest of the sources: their names, sizes and times.

    The times are in whole seconds, because container images keep no fractions.
    """
    lines = [str(BROTLI_QUALITY)]
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = Path(storage.path(name)).stat()
            lines.append(f"{name} {status.st_size} {int(status.st_mtime)}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def read_stamp(root: Path) -> str:
    try:
        return (root / STAMP).read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def lock_folder(root: Path) -> Iterator[None]:
    """Let only one process build."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with root.with_name(f"{root.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
