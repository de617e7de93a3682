"""The files of counts reserve their space, and without space a process counts in its memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict

from wire.metrics import files as metric_files
from wire.metrics.files import ReservedFile


def read_file(path: Path) -> dict[str, float]:
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path))}


def test_a_file_takes_the_space_of_all_its_counts(tmp_path):
    path = tmp_path / "counter_1.db"
    file = ReservedFile(str(path))
    for number in range(3000):
        file.write_value(f"key {number}", number, 0.0)
    assert path.stat().st_blocks * 512 >= path.stat().st_size > 65536
    assert read_file(path) == {f"key {number}": number for number in range(3000)}
    assert ReservedFile(str(path)).read_value("key 7")[0] == 7


@pytest.mark.parametrize("counts_before", [0, 1, 1000])
def test_without_space_counts_go_on_in_memory_and_the_file_stays_readable(tmp_path, monkeypatch, counts_before):
    path = tmp_path / "counter_1.db"
    if not counts_before:
        monkeypatch.setattr(metric_files, "reserve", lambda path, size: False)
    file = ReservedFile(str(path))
    for number in range(counts_before):
        file.write_value(f"key {number}", number, 0.0)
    monkeypatch.setattr(metric_files, "reserve", lambda path, size: False)
    for number in range(9000):
        file.write_value(f"key {number}", number, 0.0)
    assert [file.read_value(f"key {number}")[0] for number in (0, 999, 8999)] == [0, 999, 8999]
    assert not path.exists() if not counts_before else read_file(path)[f"key {counts_before - 1}"] == counts_before - 1
    file.close()


def test_a_file_is_whole_from_the_moment_it_has_its_name(tmp_path, monkeypatch):
    path, reserve = tmp_path / "counter_1.db", metric_files.reserve

    def reserve_and_look(new_path: Path, size: int) -> bool:
        new_path.open("ab").close()
        assert not path.exists(), "a scrape would read an empty file"
        return reserve(new_path, size)

    monkeypatch.setattr(metric_files, "reserve", reserve_and_look)
    ReservedFile(str(path)).write_value("key", 1.0, 0.0)
    assert read_file(path) == {"key": 1.0}
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
