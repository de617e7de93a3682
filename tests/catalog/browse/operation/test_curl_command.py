"""The `curl` command of an operation: a shell can run it, and it has types in place of values."""

from __future__ import annotations

import json
import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from affidavit import describe, infer
from catalog.browse.operation.curl_command import MAX_DEPTH, MAX_NAMES, MAX_QUERY_NAMES, build_curl_command


def outline(method: str = "POST", path: str = "/orders/{orderId}", **parts: Any) -> dict[str, Any]:
    shapes = {name: describe(infer(value), counts=False) for name, value in parts.items()}
    return {"method": method, "path": path, "parameters": {}, "query": None, "request": None, "responses": {}} | shapes


def test_the_command_of_a_read_has_placeholders_for_parameters():
    assert build_curl_command(outline("GET", query={"expand": "lines", "page[size]": 3})) == (
        "curl --globoff -X GET 'https://api.example.com/orders/{orderId}?expand={string}&page%5Bsize%5D={integer}' \\\n"
        "  -H 'X-Service-Intent: <intent>'"
    )


def test_the_command_of_a_head_does_not_wait_for_a_body():
    """`curl -X HEAD` waits for as many bytes as Content-Length says, and curl refuses --head beside --data."""
    assert build_curl_command(outline("HEAD", "/orders", request={"id": 1})) == (
        "curl --globoff --head https://api.example.com/orders \\\n  -H 'X-Service-Intent: <intent>'"
    )


def test_the_body_has_types_in_place_of_values():
    body = {"id": 17, "lines": [{"sku": "secret-sku"}], "none": [], "empty": {}, "by": {"2026-01-01": 1.5}}
    line = build_curl_command(outline(request=body))
    assert json.loads(shlex.split(line)[-1]) == {
        "id": "<integer>",
        "lines": [{"sku": "<string>"}],
        "none": ["<unknown>"],
        "empty": {},
        "by": {"<key>": "<number>"},
    }
    assert "secret-sku" not in line


def test_a_large_body_and_a_long_query_are_cut_with_a_note():
    deep: dict[str, Any] = {"x": 1}
    for _ in range(MAX_DEPTH):
        deep = {"x": deep}
    names = {f"name{chr(97 + n % 26)}{chr(97 + n // 26)}": "x" for n in range(MAX_NAMES + 1)}
    assert shlex.split(build_curl_command(outline(request=deep)))[-1].count("…") == 2
    assert json.loads(shlex.split(build_curl_command(outline(request=names)))[-1])["…"] == "…"
    assert build_curl_command(outline("GET", query=names)).count("={string}") == MAX_QUERY_NAMES


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(names, st.dictionaries(names, st.none() | st.text(max_size=2), max_size=3))
def test_names_are_quoted_for_the_shell(segment: str, body: dict[str, Any]):
    line = build_curl_command(outline(path=f"/{segment}", request=body or {"x": 1}, query={segment: "x"}))
    words = shlex.split(line.replace(" \\\n  ", " "))  # shlex, unlike a shell, does not join continued lines
    assert words[:4] == ["curl", "--globoff", "-X", "POST"]
    assert words[5:8:2] == ["-H", "-H"]
    assert words[-2] == "--data"
    assert len(words) == 11
    json.loads(words[-1])


def test_forms_and_other_bodies_are_sent_as_their_media_type():
    form = {"type": "object", "properties": {
        "tag": {"type": "unknown", "reason": "divergent", "items": {"type": "string"}},
        "file": {"type": "string", "format": "binary"},
    }}  # fmt: skip

    def arguments(**members: Any) -> list[str]:
        return shlex.split(build_curl_command({**outline(), **members}).partition("<intent>'")[2].replace("\\\n", ""))

    assert arguments(request=form, requestMediaTypes=["multipart/form-data"]) == [
        "--form-string", "tag=<string>", "-F", "file=@<file>",
    ]  # fmt: skip
    assert arguments(request=form, requestMediaTypes=["application/x-www-form-urlencoded"]) == [
        "--data-urlencode", "tag=<string>", "--data-urlencode", "file=<string>",
    ]  # fmt: skip
    assert arguments(requestMediaTypes=["text/csv"]) == ["-H", "Content-Type: text/csv", "--data-binary", "@<file>"]
    assert arguments(request=form, requestMediaTypes=["application/merge-patch+json", "text/csv"])[:2] == [
        "-H", "Content-Type: application/merge-patch+json",
    ]  # fmt: skip


def test_no_name_of_a_field_makes_curl_read_a_file_or_ends_the_line_of_a_terminal():
    names = ("x=@/etc/passwd;y", "a&b", "\x03\nid")
    form = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    multipart, url_encoded = (
        build_curl_command({**outline(), "request": form, "requestMediaTypes": [media_type]}).split(" \\\n  ")[2:]
        for media_type in ("multipart/form-data", "application/x-www-form-urlencoded")
    )
    assert multipart == ["--form-string 'a&b=<string>'"]
    assert url_encoded == [
        "--data-urlencode 'x%3D%40%2Fetc%2Fpasswd%3By=<string>'",
        "--data-urlencode 'a%26b=<string>'",
        "--data-urlencode '%03%0Aid=<string>'",
    ]
