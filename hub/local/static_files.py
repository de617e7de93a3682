"""Static files with hashed names, collected at each start, and compressed copies, made once the hub is up.

Compressing plotly.js well takes longer than a start may; the web server finds the copies at its next start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.management import call_command
from whitenoise.compress import main as whitenoise_compress

MANIFEST, STAMP = "staticfiles.json", "compressed.json"
NICE = 15
DELAY_SECONDS = 30  # whoever has just started a hub wants its pages first


class HashedNames(ManifestStaticFilesStorage):
    """Put a hash of the content into each name. Contents are not rewritten: our files do not refer to each other."""

    patterns = ()


def collect() -> None:
    call_command("collectstatic", verbosity=0, interactive=False)


def start_compressing() -> Iterator[subprocess.Popen[bytes]]:
    """Start compressing in the background, unless the current files have been compressed already."""
    root = Path(settings.STATIC_ROOT)
    if (root / STAMP).exists() and (root / STAMP).read_bytes() == (root / MANIFEST).read_bytes():
        return
    command = [sys.executable, "-m", "hub.local.static_files", str(root)]
    yield subprocess.Popen(command, cwd=settings.BASE_DIR, start_new_session=True)  # a terminal's Ctrl-C is for `up`


def compress(root: Path) -> None:
    os.nice(NICE)
    time.sleep(DELAY_SECONDS)
    manifest = (root / MANIFEST).read_bytes()
    whitenoise_compress([str(root), "--quiet"])
    (root / STAMP).write_bytes(manifest)


if __name__ == "__main__":
    compress(Path(sys.argv[1]))
