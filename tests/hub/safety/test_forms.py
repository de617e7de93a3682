"""Forms of strangers cost little: large ones are refused unread, ones with many fields quickly; files are not kept."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files import uploadedfile
from django.http import HttpResponse
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.telemetry.logs import JsonFormatter

pytestmark = pytest.mark.django_db
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
LARGEST = 4 * 1024 * 1024
SECONDS = 2.0  # usually a few milliseconds; long, for a slow machine


def field(name: str, text: str = "") -> bytes:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()


def file(name: str, content: bytes) -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\nContent-Type: text/plain\r\n\r\n'
    return head.encode() + content + b"\r\n"


def fill(part: bytes, size: int) -> bytes:
    return part * (size // len(part))


TYPES = [URLENCODED, MULTIPART, "multipart/form-data", "text/plain", "multipart/form-data; boundary=\xff"]
PIECES = [field("a", "b"), file("a", b"b"), b"--x\r\n", b"--x--", b"\r\n", b"\xff\x00", b"%"]
FLOODS: dict[str, Callable[[int], tuple[str, bytes]]] = {
    "fields": lambda size: (URLENCODED, fill(b"a=1&", size)),
    "ampersands": lambda size: (URLENCODED, fill(b"&", size)),
    "percent signs": lambda size: (URLENCODED, b"a=" + fill(b"%41", size)),
    "one name": lambda size: (URLENCODED, fill(b"a", size)),
    "parts": lambda size: (MULTIPART, fill(field("a"), size)),
    "parts without a name": lambda size: (MULTIPART, fill(b"--x\r\n\r\n\r\n", size)),
    "boundaries": lambda size: (MULTIPART, fill(b"--x\r\n", size)),
    "almost boundaries": lambda size: (MULTIPART, field("a", "\r\n--" * (size // 4))),
    "headers of a part": lambda size: (MULTIPART, b"--x\r\n" + fill(b"A: b\r\n", size)),
    "a header's parameters": lambda size: (MULTIPART, b"--x\r\nContent-Disposition: form-data" + fill(b"; a=b", size)),
    "files": lambda size: (MULTIPART, fill(file("a", b""), size)),
    "one file": lambda size: (MULTIPART, file("a", fill(b"x", size)) + b"--x--\r\n"),
    "base64": lambda size: (
        MULTIPART,
        b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        + fill(b" ", size),
    ),
    "no end": lambda size: (MULTIPART, b"--x" + fill(b"-", size)),
    "no boundary": lambda size: ("multipart/form-data", fill(b"--x\r\n", size)),
    "another boundary": lambda size: ("multipart/form-data; boundary=" + "y" * 200, fill(b"--x\r\n", size)),
}


@pytest.fixture
def log_lines() -> Iterator[Callable[[], str]]:
    """Yield a function that returns what the hub's log formatter has printed so far."""
    text = StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield text.getvalue
    logging.getLogger().removeHandler(handler)


def post(body: bytes, content_type: str, path: str = "/sign-in") -> HttpResponse:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False, headers={"Accept": "text/html"})
    client.cookies["csrftoken"] = "a" * 32  # so that the hub reads the form to find the token
    return client.post(path, body, content_type=content_type)


@pytest.mark.parametrize("kind", FLOODS)
@pytest.mark.parametrize("size", [1000 * 1024, LARGEST])
def test_a_flood_is_refused_quickly_with_a_page_and_a_short_line(kind, size, log_lines):
    content_type, body = FLOODS[kind](size)
    start_time = time.process_time()
    response = post(body, content_type)
    assert time.process_time() - start_time < SECONDS
    assert response.status_code in ({413} if size == LARGEST else {400, 403})
    assert b"</html>" in response.content
    assert len(log_lines()) < 500


@pytest.mark.parametrize("size", [10, 1000 * 1024])
def test_no_file_is_written_to_disk_or_kept(size, tmp_path: Path, monkeypatch, settings: Any):
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    uploads = []
    monkeypatch.setattr(uploadedfile.UploadedFile, "__init__", lambda *arguments, **_: uploads.append(arguments))
    assert post(file("a", b"x" * size) + b"--x--\r\n", MULTIPART).status_code == 400
    assert list(tmp_path.iterdir()) == []
    assert uploads == []


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.sampled_from(PIECES)), content_type=st.sampled_from(TYPES))
def test_no_form_however_broken_is_a_failure_of_the_hub(parts, content_type):
    assert post(b"".join(parts), content_type).status_code in {400, 403}


def test_a_form_of_the_size_of_a_body_to_inspect_is_accepted(browser_client, workspace):
    """The form of the inspector has the whole body of a request as a field."""
    address = f"/w/{workspace.workspace.slug}/production/inspector/checks"
    form = {"header": "x", "method": "POST", "path": "/a", "content_type": "application/json", "body": "1" * 900_000}
    assert browser_client.post(address, form).status_code == 200
