"""The doctor sees a full disk, and static files that are missing or old."""

from __future__ import annotations

from collections import namedtuple

from amqp.exceptions import ChannelError

from hub.doctor import disk_and_static_files
from hub.doctor.disk_and_static_files import check_disk, check_static_files
from hub.doctor.result import Result
from hub.doctor.run_checks import Check, run_checks
from hub.local import compressed_static_files


def test_a_disk_that_is_nearly_full_is_wrong(monkeypatch):
    assert check_disk().state == "ok"
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(disk_and_static_files.shutil, "disk_usage", lambda path: usage(100, 99, 1024 * 1024 * 1023))
    assert check_disk().state == "wrong"
    assert "1,023 MiB" in check_disk().detail


def test_a_check_that_fails_in_an_unknown_way_does_not_keep_the_others_from_running():
    def fail() -> Result:
        raise ChannelError("Cannot open a file")

    checks = [Check("broker", fail), Check("worker", check_disk, needs="broker"), Check("disk", check_disk)]
    results = dict(run_checks(checks))
    assert [result.state for result in results.values()] == ["wrong", "skipped", "ok"]
    assert "ChannelError" in results["broker"].detail


def test_missing_and_old_static_files_are_found(settings, tmp_path):
    settings.STATIC_ROOT = root = tmp_path / "static.dist"
    assert "build_static" in check_static_files().cure
    compressed_static_files.build()
    assert check_static_files().state == "ok"
    script = next(root.glob("plotly/plotly-basic.min.*.js"))
    script.unlink()
    assert (check_static_files().state, script.name in check_static_files().detail) == ("wrong", True)
    script.touch()
    (root / compressed_static_files.STAMP).write_text("of an earlier version")
    assert check_static_files().state == "wrong"
