"""Static files are built completely or not at all, and are compressed before the first request."""

from __future__ import annotations

import errno
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest

from hub.local import compressed_static_files, run_hub
from hub.local.startup_errors import StartupError
from hub.static_files import bundles


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Iterator[Path]:
    settings.STATIC_ROOT = tmp_path / "static.dist"
    return settings.STATIC_ROOT


def test_each_script_and_style_has_compressed_copies_under_its_hashed_name(root):
    compressed_static_files.build()
    (script,) = (path for path in root.glob("plotly/plotly-basic.min.*.js"))
    assert brotli.decompress(Path(f"{script}.br").read_bytes()) == script.read_bytes()
    assert gzip.decompress(Path(f"{script}.gz").read_bytes()) == script.read_bytes()
    assert Path(f"{script}.br").stat().st_size < script.stat().st_size / 3


@pytest.mark.parametrize("start", [run_hub.prepare, compressed_static_files.refuse_old_files])
def test_a_folder_that_is_read_only_is_named_with_the_cure_before_the_database_is_changed(root, monkeypatch, start):
    """The cure has to compare contents: for make, files that an archive brought with their old times are not new."""

    def refuse() -> str:
        raise OSError(errno.EROFS, "Read-only file system", "static.bundles/site.css")

    monkeypatch.setattr(compressed_static_files, "compute_fingerprint", refuse)
    with pytest.raises(StartupError, match=r"static files cannot be written .Read-only.* build_static`"):
        start()


def test_a_second_build_changes_nothing(root):
    compressed_static_files.build()
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    compressed_static_files.build()
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_changed_source_is_built_again_without_the_old_file(root, monkeypatch):
    compressed_static_files.build()
    (root / "of-an-earlier-version.js").write_text("old")
    monkeypatch.setattr(compressed_static_files, "compute_fingerprint", lambda: "another")
    compressed_static_files.build()
    assert not (root / "of-an-earlier-version.js").exists()
    assert (root / compressed_static_files.STAMP).read_text() == "another"


def test_the_hashed_files_of_the_version_before_stay_for_its_processes_and_open_pages(root, settings, monkeypatch):
    settings.BUNDLE_ROOT = root.with_name("static.bundles")
    styles = []
    for parts in (("css/tokens.css",), ("css/base.css",), ("css/layout.css",)):
        monkeypatch.setitem(bundles.BUNDLES, "site.css", parts)
        compressed_static_files.build()
        styles.append(next(path for path in root.glob("site.*.css") if path not in styles))
        assert [path for path in styles if path.exists()] == styles[-2:]
        assert all(Path(f"{path}{suffix}").exists() for path in styles[-2:] for suffix in (".br", ".gz"))


def test_if_the_disk_fills_up_the_old_files_stay_and_the_next_build_is_complete(root, monkeypatch):
    compressed_static_files.build()
    names = sorted(path.name for path in root.rglob("*"))
    monkeypatch.setattr(compressed_static_files, "compute_fingerprint", lambda: "another")

    def fail(data: bytes) -> bytes:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full_disk:
        full_disk.setattr(compressed_static_files.QuickCompressor, "compress_brotli", staticmethod(fail))
        with pytest.raises(OSError, match="No space left"):
            compressed_static_files.build()
    assert sorted(path.name for path in root.rglob("*")) == names
    compressed_static_files.build()
    assert (root / compressed_static_files.STAMP).read_text() == "another"
    assert sorted(path.name for path in root.rglob("*")) == names
