"""A middleware forgets a request when its call has ended, and leaves no work to the garbage collector of the host."""

import asyncio
import gc
import io
import weakref

import pytest
from support.asgi_calls import exchange, in_loop
from support.signed_calls import encode_json, make_protection, sign_call

from affidavit import MemoryNonces
from affidavit.contrib import asgi, wsgi

ARGS = {"isbn": "978"}


class NoncesElsewhere(MemoryNonces):
    """A store that a middleware asks in a thread."""

    is_in_memory = False


class Mark:
    """An object that lives as long as the request that has it."""


@pytest.fixture(autouse=True)
def no_garbage_collection():
    gc.disable()
    yield
    gc.enable()


async def answer_asgi(scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})


def answer_wsgi(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [environ["wsgi.input"].read(0) + b"{}"]


def stream_wsgi(environ, start_response):
    start_response("200 OK", [])
    yield from (b"{", b"}")


@pytest.mark.parametrize("nonces", [MemoryNonces, NoncesElsewhere])
@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize(("operation", "status"), [("POST /orders", 200), ("POST /refunds", 403)])
@in_loop
async def test_asgi(nonces, everything, operation, status):
    protection = make_protection(nonces=nonces(several_workers=True))
    app = asgi.IntentMiddleware(answer_asgi, protection, everything=everything)
    headers = [("content-type", "application/json"), ("x-service-intent", sign_call(operation, ARGS))]
    mark = Mark()
    reference = weakref.ref(mark)
    response = await exchange(app, "POST", "/orders", headers, [encode_json(ARGS)], mark=mark)
    assert response.status == (status if everything else 200)
    del mark
    for _ in range(500):  # a thread of the pool lets go of its work a moment after the result is there
        if reference() is None:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the request is still there")


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("app", [answer_wsgi, stream_wsgi])
@pytest.mark.parametrize(("operation", "status"), [("POST /orders", 200), ("POST /refunds", 403)])
def test_wsgi(app, everything, operation, status):
    protected_app = wsgi.IntentMiddleware(app, make_protection(), everything=everything)
    body, statuses = encode_json(ARGS), list[str]()
    mark = Mark()
    reference = weakref.ref(mark)
    environ = {
        "REQUEST_METHOD": "POST", "PATH_INFO": "/orders", "SCRIPT_NAME": "", "QUERY_STRING": "",
        "wsgi.input": io.BytesIO(body), "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)),
        "HTTP_X_SERVICE_INTENT": sign_call(operation, ARGS), "mark": mark,
    }  # fmt: skip
    chunks = protected_app(environ, lambda line, headers: statuses.append(line))
    assert b"".join(chunks).endswith(b"}")
    assert statuses[0].startswith(str(status if everything else 200))
    del mark, environ, chunks
    assert reference() is None
