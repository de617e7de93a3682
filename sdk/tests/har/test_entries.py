"""Entries become exchanges, or are skipped with a reason."""

import base64

import pytest
from har.har_files import NOW, entry, har, only

from affidavit._har.entries import Exchange, LeftOut, Skip, read_har
from affidavit._json import ABSENT
from affidavit._witness.observations import MediaTypes


def test_an_entry_becomes_an_exchange(write_file):
    full = entry("post", "https://api.example.com:8443/orders/17?b=2&a=1&b=&b=%C3%A9#top", 201, '{"id": 17}')
    full["request"]["postData"] = {"mimeType": "application/json; charset=utf-8", "text": "[1, null]"}
    assert only(read_har(write_file(har(full)), now=NOW)) == Exchange(
        method="POST",
        path="/orders/17",
        query={"b": ["2", "", "é"], "a": ["1"]},
        status=201,
        at=1_767_323_045.678,
        request=[1, None],
        response={"id": 17},
        media_types=MediaTypes("application/json", "application/json"),
    )


@pytest.mark.parametrize(
    ("text", "unix"),
    [
        ("2026-01-02T03:04:05.678Z", 1_767_323_045.678),
        ("2026-01-02T03:04:05.678+02:00", 1_767_315_845.678),
        ("2026-01-02T03:04:05", 1_767_323_045.0),
        ("2026-01-02T03:04:05.1234567Z", 1_767_323_045.123456),
    ],
)
def test_times_are_read_with_their_zone_and_without_one_as_utc(read, text, unix):
    assert only(read({**entry(), "startedDateTime": text})).at == unix


@pytest.mark.parametrize("text", [None, 5, "", "yesterday", "1999-12-31T23:59:59Z", "2031-01-01T00:00:00Z"])
def test_a_time_that_the_hub_would_refuse_is_a_reason_to_skip(read, text):
    assert read({**entry(), "startedDateTime": text}) == [Skip.NO_TIME]


def test_a_piece_of_a_body_has_no_shape_and_a_page_of_a_list_has_one(read):
    piece, page = read(entry(status=206, text="17"), entry(status=206, text="[17]"))
    assert (piece.response, page.response) == (LeftOut.INCOMPLETE, [17])


@pytest.mark.parametrize("url", ["https://a.example.com", "https://a.example.com/", "http://a.example.com?x=1"])
def test_a_url_without_a_path_has_the_path_of_the_root(read, url):
    assert only(read(entry(url=url))).path == "/"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/a b", "/a%20b"),
        ("/{id}", "/%7Bid%7D"),
        ("/käse", "/k%C3%A4se"),
        ("/a%2Fb", "/a%2Fb"),
        ("/it's;v=1,2/(x)~@:$&!*+-._", "/it's;v=1,2/(x)~@:$&!*+-._"),
        ("/a\\b|c\x01", "/a%5Cb%7Cc%01"),
    ],
)
def test_characters_that_a_recorder_left_unencoded_are_percent_encoded(read, raw, path):
    assert only(read(entry(url=f"https://api.example.com{raw}"))).path == path


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (entry(url="data:text/plain,hello"), Skip.NOT_HTTP),
        (entry(url="blob:https://a.example.com/1"), Skip.NOT_HTTP),
        (entry(url="chrome-extension://abc/x.js"), Skip.NOT_HTTP),
        (entry(url="wss://a.example.com/live"), Skip.WEBSOCKET),
        (entry(status=101), Skip.WEBSOCKET),
        (entry(status=0), Skip.NO_ANSWER),
        (entry(status=-1), Skip.NO_ANSWER),
        ({**entry(), "response": None}, Skip.NO_ANSWER),
        (entry(status=600), Skip.MALFORMED),
        (entry(status="200"), Skip.MALFORMED),
        (entry(status=True), Skip.MALFORMED),
        (entry(url="https://[::1/a"), Skip.MALFORMED),
        (entry(url="/a"), Skip.MALFORMED),
        (entry(url=None), Skip.MALFORMED),
        (entry(url="https://a.example.com/a?%00=1"), Skip.MALFORMED),
        (entry(url="https://a.example.com/\ud800"), Skip.MALFORMED),
        (entry(method=""), Skip.MALFORMED),
        (entry(method="G T"), Skip.MALFORMED),
        (entry(method=None), Skip.MALFORMED),
        ({}, Skip.MALFORMED),
        (None, Skip.MALFORMED),
        ([1], Skip.MALFORMED),
        ({"request": [], "response": "x", "startedDateTime": {}}, Skip.MALFORMED),
    ],
)
def test_entries_that_are_no_exchange_are_skipped_with_a_reason(read, changed, reason):
    assert read(changed, entry())[0] is reason


@pytest.mark.parametrize(
    ("text", "mime", "response"),
    [
        ('{"a": 1}', "application/json", {"a": 1}),
        ('{"a": 1}', "Application/JSON; charset=UTF-8", {"a": 1}),
        ("[1.0]", "application/problem+json", [1.0]),
        ("5", "application/vnd.api+json;v=1", 5),
        ('{"a": 1}', "", {"a": 1}),
        ("  [null]", None, [None]),
        ('{"a": 1}', "x-unknown", {"a": 1}),
        ('{"a": 1}', "model/gltf+json", {"a": 1}),
        ("hello", "", LeftOut.NOT_JSON),
        ("5", "", LeftOut.NOT_JSON),
        ('{"a": 1}', "text/html", LeftOut.NOT_JSON),
        ('{"a": 1}', "application/json-seq", LeftOut.NOT_JSON),
        ('{"a": 1}', "application/x-ndjson", LeftOut.NOT_JSON),
        ("{", "application/json", LeftOut.INVALID),
        ('{"a": 1, "a": 2}', "application/json", LeftOut.INVALID),
        ("NaN", "application/json", LeftOut.INVALID),
        ("[" * 500 + "]" * 500, "application/json", LeftOut.INVALID),
        ('"\ud800"', "application/json", LeftOut.INVALID),
        ("", "application/json", ABSENT),
        (" \n", "application/json", ABSENT),
        (None, "application/json", ABSENT),
        (5, "application/json", ABSENT),
    ],
)
def test_a_body_is_read_when_it_is_json_by_its_type_or_without_one_by_its_content(read, text, mime, response):
    assert only(read(entry(text=text, mime=mime))).response == response


@pytest.mark.parametrize(
    ("raw", "mime", "response"),
    [
        ('{"ä": 1}'.encode(), "application/json", {"ä": 1}),
        (b'{"a": 1}', "", {"a": 1}),
        (b"\x89PNG\r\n", "image/png", LeftOut.NOT_JSON),
        (b"\x89PNG\r\n", "", LeftOut.NOT_JSON),
        (b"\x1f\x8b\x00", "application/json", LeftOut.INVALID),
    ],
)
def test_a_base64_body_is_read_when_it_is_json(read, raw, mime, response):
    encoded = base64.b64encode(raw).decode()
    assert only(read(entry(text=encoded, mime=mime, encoding="base64"))).response == response


def test_a_body_that_is_not_valid_base64_is_left_out(read):
    assert only(read(entry(text="é", encoding="base64"))).response is LeftOut.INVALID


def test_a_body_of_another_type_that_is_not_valid_base64_was_sent_all_the_same(read):
    """Of a type other than JSON, only the type counts: it is kept although the body cannot be decoded."""
    exchange = only(read(entry(text="é", mime="image/png", encoding="base64")))
    assert (exchange.response, exchange.media_types.response) == (LeftOut.NOT_JSON, "image/png")


@pytest.mark.parametrize("size", [-1, 12])
def test_a_form_that_is_not_valid_base64_is_no_valid_form(read, size):
    sent = entry("POST")
    sent["request"] |= {"bodySize": size, "postData": {"mimeType": FORM, "text": "abc", "encoding": "base64"}}
    exchange = only(read(sent))
    assert (exchange.request, exchange.media_types.request) == (LeftOut.INVALID_FORM, FORM)


@pytest.mark.parametrize(("method", "status"), [("GET", 204), ("PUT", 205), ("GET", 304), ("HEAD", 200)])
def test_an_answer_that_can_have_no_body_has_no_response_part(read, method, status):
    assert only(read(entry(method, status=status, text='{"cached": 1}'))).response is ABSENT


FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
PARTS = (
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    '--x\r\nContent-Disposition: form-data; name="f"; filename="b.txt"\r\n\r\n2\r\n--x--\r\n'
)


@pytest.mark.parametrize(("posted", "fields"), [
    ({"mimeType": FORM, "params": [], "text": "a=1&b=&a=2"}, [("a", False), ("b", False), ("a", False)]),
    (
        {"mimeType": FORM, "params": [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]},
        [("a", False), ("b", False)],
    ),
    ({"mimeType": MULTIPART, "text": PARTS}, [("a", False), ("f", True)]),
    ({"mimeType": MULTIPART, "params": [{"name": "f", "fileName": "b.txt"}]}, [("f", True)]),
    ({"mimeType": "multipart/form-data", "params": [{"name": "a", "value": ""}], "text": ""}, [("a", False)]),
])  # fmt: skip
def test_the_shape_of_a_form_has_the_names_and_kinds_of_its_fields(read, posted, fields):
    sent = entry("POST")
    sent["request"]["postData"] = posted
    exchange = only(read(sent))
    assert [tuple(field) for field in exchange.request.fields] == fields
    assert exchange.media_types.request == posted["mimeType"].partition(";")[0]


@pytest.mark.parametrize("posted", [
    {"text": '{"name": "canary"}'}, {"text": "canary"}, {"text": "canary="}, {"params": [{"name": '{"canary": 1}'}]},
    {"params": [{"name": "a", "value": "1"}, {"name": '{"canary"}'}]},
    {"params": ["canary"]}, {"params": [{"value": 1}]}, {"params": [{"name": "a\ud800", "value": "1"}]},
])  # fmt: skip
def test_a_body_that_is_no_form_in_spite_of_its_type_is_left_out(read, posted):
    sent = entry("POST")
    sent["request"]["postData"] = {"mimeType": FORM, **posted}
    assert only(read(sent)).request is LeftOut.INVALID_FORM


@pytest.mark.parametrize("posted", [
    {"text": "&".join(["a=1"] * 1001)}, {"params": [{"name": "a", "value": "1"}] * 1001},
])  # fmt: skip
def test_a_form_with_more_fields_than_are_read_is_too_large(read, posted):
    sent = entry("POST")
    sent["request"]["postData"] = {"mimeType": FORM, **posted}
    assert only(read(sent)).request is LeftOut.TOO_LARGE


def test_media_types_are_those_of_the_bodies_that_were_sent(read):
    csv = entry("POST", text="a,b", mime="text/csv; charset=utf-8")
    csv["request"]["postData"] = {"mimeType": "application/pdf", "text": "%PDF"}
    assert only(read(csv)).media_types == ("application/pdf", "text/csv")
    csv["response"]["status"] = 404
    assert only(read(csv)).media_types == ("", "text/csv")
    assert only(read(entry(text="", mime="text/html"))).media_types == ("", "")
    assert only(read(entry(status=204, text="x", mime="text/html"))).media_types == ("", "")
    assert only(read(entry(text="x", mime="x-unknown"))).media_types == ("", "")


def test_only_the_requested_hosts_are_read(write_file):
    urls = ["https://API.example.com/a", "https://u:p@api.example.com:8443/b", "https://cdn.example.com/c"]
    path = write_file(har(*(entry(url=url) for url in urls)))
    assert [item.host for item in read_har(path, now=NOW)] == [
        "api.example.com", "api.example.com:8443", "cdn.example.com"
    ]  # fmt: skip
    items = list(read_har(path, now=NOW, hosts={"api.example.com"}))
    assert [getattr(item, "path", item) for item in items] == ["/a", "/b", Skip.OTHER_HOST]
    items = list(read_har(path, now=NOW, hosts={"api.example.com:8443"}))
    assert [getattr(item, "path", item) for item in items] == [Skip.OTHER_HOST, "/b", Skip.OTHER_HOST]


def test_a_tunnel_of_a_proxy_is_no_operation(read):
    assert read(entry(method="CONNECT", url="api.example.com:443")) == [Skip.CONNECT]
    assert read(entry(method="CONNECT", url="https://api.example.com:443")) == [Skip.CONNECT]


def test_bodies_that_the_file_left_out_are_reported(read):
    left_out = entry()
    left_out["request"] |= {"method": "POST", "bodySize": 12}
    left_out["response"]["content"] = {"size": 120, "mimeType": "application/json"}
    image = entry()
    image["response"]["content"] = {"size": 120, "mimeType": "image/png"}
    empty = entry()
    empty["request"]["bodySize"] = -1
    empty["response"]["content"] = {"size": 0, "mimeType": "application/json"}
    items = [(item.request, item.response) for item in read(left_out, image, empty)]
    assert items == [(LeftOut.NOT_IN_FILE, LeftOut.NOT_IN_FILE), (ABSENT, LeftOut.NOT_JSON), (ABSENT, ABSENT)]
