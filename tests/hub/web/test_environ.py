"""The environment that Django gets for a request has no header with an underscore."""

from __future__ import annotations

from hub.web.environ import build_environ


def test_headers_with_underscores_are_dropped():
    scope = {"method": "GET", "path": "/caf\u00e9", "query_string": b"a=1", "http_version": "1.1"}
    headers = [(b"x_forwarded_for", b"1"), (b"accept", b"a"), (b"accept", b"b"), (b"content-type", b"c")]
    environ = build_environ({**scope, "headers": headers}, b"body")
    assert "HTTP_X_FORWARDED_FOR" not in environ
    assert (environ["HTTP_ACCEPT"], environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("a,b", "c", "4")
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/caf\u00e9"
