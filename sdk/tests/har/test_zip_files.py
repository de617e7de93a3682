"""A HAR in a zip file, as Playwright writes it, with bodies beside it."""

import json
import zipfile
from unittest.mock import patch

import pytest
from har.har_files import NOW, entry, har

import affidavit._har.attached_bodies as attached_bodies
from affidavit._errors import HarError
from affidavit._har.entries import LeftOut, read_har


def test_playwright_s_zip_has_the_har_and_its_bodies(tmp_path):
    with_body, without = entry(), entry()
    with_body["request"]["postData"] = {"mimeType": "application/json", "_file": "1f.json"}
    with_body["response"]["content"] = {"mimeType": "application/json", "size": 7, "_file": "2f.json"}
    without["response"]["content"] = {"mimeType": "application/json", "size": 7, "_file": "../har.har"}
    path = tmp_path / "recording.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1f.json", '{"a": 1}')
        archive.writestr("2f.json", '{"b": 1}')
        archive.writestr("har.har", json.dumps(har(with_body, without)))
    first, second = read_har(path, now=NOW)
    assert (first.request, first.response) == ({"a": 1}, {"b": 1})
    assert second.response is LeftOut.NOT_IN_FILE
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(HarError, match="broken or cut-off"):
        list(read_har(path, now=NOW))


def test_a_body_in_playwright_s_zip_that_is_over_the_limit_is_too_large(tmp_path):
    large, image = entry("POST"), entry()
    large["request"]["postData"] = {"mimeType": "application/x-www-form-urlencoded", "_file": "1f"}
    large["response"]["content"] = {"mimeType": "application/json", "_file": "1f"}
    image["response"]["content"] = {"mimeType": "image/png", "_file": "1f"}
    path = tmp_path / "recording.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("1f", "x" * 5000)
        archive.writestr("har.har", json.dumps(har(large, image)))
    with patch.object(attached_bodies, "MAX_ATTACHED_BODY", 1000):
        first, second = read_har(path, now=NOW)
    assert (first.request, first.response) == (LeftOut.TOO_LARGE, LeftOut.TOO_LARGE)
    assert second.response is LeftOut.NOT_JSON


def test_a_zip_of_a_folder_made_by_macos_has_one_har_and_its_bodies(tmp_path):
    with_body = entry()
    with_body["response"]["content"] = {"mimeType": "application/json", "size": 7, "_file": "1f.json"}
    path = tmp_path / "recording.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recording/", "")
        archive.writestr("recording/Traffic.HAR", json.dumps(har(with_body)))
        archive.writestr("__MACOSX/recording/._Traffic.HAR", b"\0\x05\x16\x07")
        archive.writestr("recording/1f.json", '{"a": 1}')
        archive.writestr("__MACOSX/recording/._1f.json", b"\0\x05\x16\x07")
    (item,) = read_har(path, now=NOW)
    assert item.response == {"a": 1}


@pytest.mark.parametrize(("flags", "method"), [(b"\x01\x00", b"\x00\x00"), (b"\x00\x00", b"\x63\x00")])
def test_a_zip_that_is_encrypted_or_packed_in_an_unusual_way_is_reported_in_one_line(tmp_path, flags, method):
    path = tmp_path / "recording.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("har.har", json.dumps(har()))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the member, and its entry in the directory
        start = data.index(signature) + offset
        data[start : start + 4] = flags + method
    path.write_bytes(data)
    with pytest.raises(HarError, match=r"recording\.zip .* without a password"):
        list(read_har(path, now=NOW))


def test_a_zip_without_a_har_says_so(tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(HarError, match=r"no \.har files"):
        list(read_har(path, now=NOW))
