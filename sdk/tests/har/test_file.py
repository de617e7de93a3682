"""The files: plain or gzip, cut off, broken or large; their entries are read one by one."""

import gzip
import json
import tracemalloc
from unittest.mock import patch

import pytest
from har.har_files import entry, har
from hypothesis import given
from hypothesis import strategies as st

import affidavit._har.file as har_file
from affidavit._errors import HarError
from affidavit._har.attached_bodies import TooLarge
from affidavit._har.file import scan


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])])
@pytest.mark.parametrize("name", ["a.har", "a.har.gz", "a"])
def test_plain_and_gzip_are_recognised_by_their_content_not_their_name(write_file, pack, name):
    path = write_file(pack(json.dumps(har({"n": 1}, {"n": 2})).encode()), name)
    assert list(scan(path)) == [{"n": 1}, {"n": 2}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(
    entries=st.lists(json_values),
    chunk=st.integers(1, 40),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_any_entries_are_read_unchanged_whatever_the_chunk_size(tmp_path_factory, entries, chunk, ascii_only, indent):
    before, after = {"pages": [{"entries": [0]}], "entrïes": "]}"}, {"comment": '{["log'}
    document = {"x": [1], "log": {**before, "entries": entries, **after}, "y": 12.5}
    path = tmp_path_factory.mktemp("har") / "a.har"
    path.write_text(json.dumps(document, ensure_ascii=ascii_only, indent=indent), "utf-8")
    with patch.object(har_file, "CHUNK", chunk):
        assert list(scan(path)) == entries


def test_a_byte_order_mark_is_ignored(write_file):
    assert list(scan(write_file(b"\xef\xbb\xbf" + json.dumps(har({})).encode()))) == [{}]


GOOD = json.dumps(har(entry(text='{"näme": 1}'), entry()), ensure_ascii=False).encode()


@pytest.mark.parametrize("chunk", [7, 256 * 1024])
def test_a_file_cut_off_anywhere_is_reported_in_one_line(write_file, chunk):
    with patch.object(har_file, "CHUNK", chunk):
        for length in range(len(GOOD)):
            with pytest.raises(HarError) as caught:
                list(scan(write_file(GOOD[:length])))
            assert "\n" not in str(caught.value)


def test_a_gzip_file_cut_off_anywhere_is_reported(write_file):
    packed = gzip.compress(GOOD)
    for length in range(2, len(packed)):
        with pytest.raises(HarError, match="gzip"):
            list(scan(write_file(packed[:length])))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a HAR"),
        (b"   \n", "not a HAR"),
        (b"<html>", "not a HAR"),
        (b"[]", "not a HAR"),
        (b"\x00\x01\x02", "not a HAR"),
        (b"{}", "no log.entries"),
        (b'{"log": []}', "no log.entries"),
        (b'{"log": {"entries": {}}}', "no log.entries"),
        (b'{"entries": [1]}', "no log.entries"),
        (b'{"log": {"entries": [{}', "cut off"),
        (b'{"log": {"entries": [{"a": "b', "cut off"),
        (b'{"log": {"entries": [{} {}]}}', "not valid JSON"),
        (b'{"log": {"entries": [{},]}}', "not valid JSON"),
        (b'{"log": {"entries": [,{}]}}', "not valid JSON"),
        (b'{"log": {"entries": [tru]}}', "not valid JSON"),
        (b'{"log": {"entries": []}} x', "not valid JSON"),
        (b'{"log": {"entries": []}}}', "not valid JSON"),
        (b'{log: {"entries": []}}', "not valid JSON"),
        (b'{1: 2}', "not valid JSON"),
        (b'{"log": {"entries": [' + b"9" * 5000 + b"]}}", "not valid JSON"),
        (b'{"log": {"entries": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}}", "not valid JSON"),
        (b'{"log": {"entries": ["\xff"]}}', "UTF-8"),
        ('{"log": {"entries": []}}'.encode("utf-16"), "UTF-8"),
        ('{"log": {"entries": ["é"]}}'.encode("latin-1"), "UTF-8"),
        (gzip.compress(GOOD)[:-9] + b"\0" * 9, "gzip"),
        (b"\x1f\x8b" + b"nonsense" * 9, "gzip"),
        (gzip.compress(GOOD) + b"trailing", "gzip"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_har_is_reported_in_one_line_with_its_name(write_file, content, words):
    with pytest.raises(HarError, match=words) as caught:
        list(scan(write_file(content, "bad.har")))
    assert "bad.har" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_directory_are_reported(tmp_path):
    with pytest.raises(HarError, match="No such file"):
        list(scan(tmp_path / "none.har"))
    with pytest.raises(HarError, match="directory"):
        list(scan(tmp_path))


def test_progress_runs_up_to_the_size_of_the_file(write_file):
    path = write_file(har(*[entry(text="x" * 1000)] * 1000))
    progress = []
    list(scan(path, lambda done, total: progress.append((done, total))))
    assert progress == sorted(progress)
    assert progress[-1] == (path.stat().st_size, path.stat().st_size)
    assert len(progress) > 3


def test_an_entry_that_is_too_large_is_skipped_and_the_rest_is_read(write_file):
    large = {"a": ['\\"]}' * 500, {"b": "é\\" * 500}], "c": "{["}
    path = write_file(har({"n": 1}, large, {"n": 2}, "x" * 5000, [], comment="y" * 5000))
    with patch.object(har_file, "MAX_ENTRY", 1000), patch.object(har_file, "CHUNK", 64):
        n1, passed, n2, text, empty = scan(path)
    assert (n1, n2, empty) == ({"n": 1}, {"n": 2}, [])
    assert isinstance(passed, TooLarge)
    assert isinstance(text, TooLarge)


def test_a_file_cut_off_inside_an_entry_that_is_too_large_is_reported(write_file):
    path = write_file(json.dumps(har({"a": "x" * 5000})).encode()[:3000])
    with (
        patch.object(har_file, "MAX_ENTRY", 1000),
        patch.object(har_file, "CHUNK", 64),
        pytest.raises(HarError, match="cut off"),
    ):
        list(scan(path))


def test_broken_json_early_in_a_large_file_is_reported_without_reading_it_whole(write_file):
    path = write_file(b'{"log": {"entries": [{"a" 1}, ' + b'{"n": 1},' * 1_000_000)
    read = []
    with pytest.raises(HarError, match="not valid JSON"):
        list(scan(path, lambda done, _: read.append(done)))
    assert read[-1] <= 2 * har_file.CHUNK


def test_memory_does_not_grow_with_the_file(write_file):
    line = json.dumps(entry(text="x" * 2000)).encode() + b","
    path = write_file(b'{"log": {"entries": [' + line * 10_000 + b"{}]}}")
    tracemalloc.start()
    try:
        assert sum(1 for _ in scan(path)) == 10_001
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert peak < 3_000_000
