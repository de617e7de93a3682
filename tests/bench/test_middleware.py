"""The benchmark of the ASGI middleware, which runs without a server, gets answers from the app that it measures."""

from __future__ import annotations

from bench.sdk.middleware import build_asgi_caller, build_protection


def test_the_asgi_middleware_answers_the_benchmark():
    for protection in (None, build_protection()):
        build_asgi_caller(protection)()  # raises for any answer but 200
