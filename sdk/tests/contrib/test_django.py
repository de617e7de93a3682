"""Protected Django views: calls that pass or are refused, responses that are kept, results that are reported."""

import asyncio
import io
import json
import time
from types import SimpleNamespace

import pytest
from support.signed_calls import (
    RecordedReports,
    UnreachableStore,
    encode_json,
    make_protection,
    sign_call,
    sign_v1_call,
)

from affidavit import REASONS

pytest.importorskip("django", reason="needs Django")
pytest.importorskip("pytest_django", reason="needs pytest-django")

from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.template import engines
from django.template.response import SimpleTemplateResponse
from django.test import AsyncClient, Client
from django.urls import include, path, re_path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View

from affidavit.contrib.django import (
    IntentMiddleware,
    intent_exempt,
    intent_required,
)

pytestmark = pytest.mark.urls(__name__)

ARGS = {"isbn": "978", "qty": 2}
MIDDLEWARE = "affidavit.contrib.django.IntentMiddleware"
SHOP = SimpleNamespace(runs=[], fails=False)


def order(request):
    SHOP.runs.append(request.intent.args)
    return JsonResponse({"sub": request.intent.sub, "body": json.loads(request.body)}, status=201)


def show(request, order_id):
    return JsonResponse({"id": order_id, "args": request.intent.args})


def search(request):
    return JsonResponse({"args": request.intent.args, "read": request.GET.dict()})


@intent_required(minimum_version=2)
def refund(request):
    SHOP.runs.append("refund")
    return JsonResponse({"refunded": request.intent.args})


@intent_required(operation="orders.cancel")
def cancel(request):
    return JsonResponse({})


@intent_required
async def awaited(request):
    await asyncio.sleep(0)
    SHOP.runs.append("awaited")
    if SHOP.fails:
        raise RuntimeError("on purpose")
    return JsonResponse(request.intent.args)


@intent_exempt
def health(request):
    return JsonResponse({"ok": True})


@intent_exempt
async def awaited_health(request):
    return JsonResponse({"ok": True})


class Health(View):
    async def get(self, request):
        return JsonResponse({"ok": True})


@method_decorator(intent_required, name="dispatch")
class Cart(View):
    def post(self, request):
        return JsonResponse(request.intent.args)


class Till(View):
    @method_decorator(intent_required(minimum_version=2))
    def post(self, request):
        SHOP.runs.append("till")
        return JsonResponse(request.intent.args)


class Basket(View):
    async def post(self, request):
        SHOP.runs.append("basket")
        return JsonResponse(request.intent.args)


@intent_required
def rendered(request):
    SHOP.runs.append("rendered")
    return SimpleTemplateResponse(
        engines["django"].from_string("{{ fail }}"), {"fail": "no" if not SHOP.fails else Fails()}
    )


class Fails:
    def __str__(self):
        raise RuntimeError("on purpose")


def missing(request):
    SHOP.runs.append("gone")
    raise Http404


def streamed(request):
    SHOP.runs.append("streamed")
    return StreamingHttpResponse([b"a", b"b"])


async def name_zone():
    yield timezone.get_current_timezone_name().encode()


def streamed_in_zone(request):
    timezone.activate("Asia/Tokyo")
    return StreamingHttpResponse(name_zone())


urlpatterns = [
    path("streamed-in-zone", streamed_in_zone),
    path("orders", order),
    path("orders/<int:order_id>/", show),
    path("search", search),
    path("refunds", refund),
    path("rpc", cancel),
    path("awaited", awaited),
    path("health", health),
    path("awaited-health", awaited_health),
    path("class-health", intent_exempt(Health.as_view())),
    path("cart", Cart.as_view()),
    path("basket", method_decorator(intent_required, name="dispatch")(type("Wrapped", (Basket,), {})).as_view()),
    path("bag", intent_required(Basket.as_view())),
    path("till", Till.as_view()),
    path("twice", intent_required(refund)),
    path("awaited-twice", intent_required(awaited)),
    path("rendered", rendered),
    path("gone", missing),
    path("streamed", streamed),
    path("v1/", include([path("orders/<int:order_id>/", show)])),
    re_path(r"^old/(?P<number>[0-9]+)/$", lambda request, number: HttpResponse(number)),
]


@pytest.fixture(autouse=True)
def site(settings):
    """Return a function that protects the site's views and returns a client."""
    SHOP.runs, SHOP.fails = [], False
    settings.ROOT_URLCONF = __name__
    settings.CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"

    def protected(guard=None, *, everything=True):
        settings.MIDDLEWARE = [MIDDLEWARE] if everything else []
        settings.AFFIDAVIT_PROTECTION = guard or make_protection()
        return Client(raise_request_exception=False, enforce_csrf_checks=True)

    return protected


def post(client, address, header, value=ARGS, **headers):
    all_headers = {**headers, **({"x-service-intent": header} if header else {})}
    return client.post(address, encode_json(value), content_type="application/json", headers=all_headers)


def test_a_signed_call_reaches_the_view_with_intent_arguments_and_body(site):
    answer = post(site(), "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status_code, answer.json()) == (201, {"sub": "user-1", "body": ARGS})
    assert SHOP.runs == [ARGS]


@pytest.mark.parametrize(("header", "reason"), [  # fresh when it is sent: an intent lasts five minutes
    (lambda: None, "missing-header"),
    (lambda: "nonsense!", "malformed"),
    (lambda: sign_call("POST /orders", {}), "args-mismatch"),
    (lambda: sign_call("POST /orders/", ARGS), "operation-mismatch"),
])  # fmt: skip
def test_a_rejection_is_a_problem_document_with_its_reason_and_fix(site, header, reason):
    answer = post(site(), "/orders", header())
    problem = json.loads(answer.content)
    assert (answer.status_code, answer.headers["Content-Type"]) == (403, "application/problem+json")
    assert (problem["code"], problem["reason"]) == ("intent-rejected", reason)
    assert REASONS[reason].usual_fix in problem["detail"]
    assert SHOP.runs == []


@pytest.mark.parametrize("everything", [True, False])
def test_a_decorated_view_is_protected_with_or_without_the_middleware(site, everything):
    client = site(everything=everything)
    for address in ("/refunds", "/cart", "/awaited"):
        assert post(client, address, None).status_code == 403
        assert post(client, address, sign_call(f"POST {address}", ARGS)).status_code == 200
    answer = post(client, "/refunds", sign_v1_call("POST", "/refunds", now=time.time()))
    assert json.loads(answer.content)["reason"] == "unsupported-version"


@pytest.mark.parametrize(("address", "name"), [("/till", "till"), ("/twice", "refund"), ("/awaited-twice", "awaited")])
def test_a_call_is_verified_once_by_the_middleware_and_the_decorators_of_a_view(site, address, name):
    client = site(make_protection(reports=(reports := RecordedReports())))
    answers = [post(client, address, sign_call(f"POST {address}", ARGS, tool_call_id="c")) for _ in range(2)]
    assert [answer.headers.get("Idempotent-Replayed") for answer in answers] == [None, "true"]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert SHOP.runs == [name]
    assert [result for result, *_ in reports.operations] == ["accepted"] * 2


def test_a_decorator_below_the_middleware_may_demand_more(site):
    client = site()
    answer = post(client, "/till", sign_v1_call("POST", "/till", now=time.time()))
    assert (json.loads(answer.content)["reason"], SHOP.runs) == ("unsupported-version", [])


def test_a_verified_call_needs_no_csrf_token_and_others_still_do(site, settings):
    client = site(make_protection(exempt=lambda method, path: path == "/gone"))
    settings.MIDDLEWARE = [MIDDLEWARE, "django.middleware.csrf.CsrfViewMiddleware"]
    for address in ("/orders", "/refunds"):
        assert post(client, address, sign_call(f"POST {address}", ARGS)).status_code in (200, 201)
    answer = post(client, "/gone", None)
    assert (answer.status_code, SHOP.runs) == (403, [ARGS, "refund"])


def test_a_view_may_declare_its_own_operation(site):
    client = site(make_protection(reports=(reports := RecordedReports())))
    assert post(client, "/rpc", sign_call("orders.cancel", ARGS)).status_code == 200
    assert post(client, "/rpc", sign_call("POST /rpc", ARGS)).status_code == 403
    assert reports.operations == [("accepted", "orders.cancel"), ("operation-mismatch", "orders.cancel")]


def test_an_exempt_request_needs_no_intent(site):
    client = site(make_protection(exempt=lambda method, path: path.startswith("/old/")))
    assert client.get("/health").status_code == 200
    assert client.get("/old/7/").content == b"7"
    assert client.get("/orders/7/").status_code == 403


@pytest.mark.parametrize("address", ["/health", "/awaited-health", "/class-health"])
def test_an_exempt_view_may_be_async(site, address):
    site()
    assert Client().get(address).json() == {"ok": True}
    assert asyncio.run(AsyncClient().get(address)).json() == {"ok": True}


def test_reports_name_the_route_as_a_template(site):
    client = site(make_protection(reports=(reports := RecordedReports())))
    for address in ("/orders/17/", "/v1/orders/17/", "/old/17/"):
        client.get(address)
    client.get("/orders/17/", headers={"x-service-intent": sign_call("GET /orders/17/", {})})
    assert reports.operations == [
        ("missing-header", "GET /orders/{order_id}/"),
        ("missing-header", "GET /v1/orders/{order_id}/"),
        ("missing-header", "GET /old/{number}/"),
        ("accepted", "GET /orders/{order_id}/"),
    ]


def test_the_mount_prefix_is_part_of_the_operation(site):
    client = site(make_protection(reports=(reports := RecordedReports())))
    header = {"x-service-intent": sign_call("GET /shop/orders/5/", {})}
    assert client.get("/orders/5/", headers=header, SCRIPT_NAME="/shop").status_code == 200
    assert reports.operations == [("accepted", "GET /shop/orders/{order_id}/")]


@pytest.mark.parametrize("variable", ["REQUEST_URI", "RAW_URI"])
@pytest.mark.parametrize("raw_path", ["/orders%2F5/", "/orders/5%/", "/orders/5%FF/"])
def test_a_raw_path_that_servers_read_differently_is_refused(site, variable, raw_path):
    header = {"x-service-intent": sign_call("GET /orders/5/", {})}
    answer = site().get("/orders/5/", headers=header, **{variable: f"{raw_path}?a=1"})
    assert json.loads(answer.content)["reason"] == "operation-mismatch"


def test_a_view_reads_the_texts_that_were_verified_whatever_charset_is_named(site):
    client, headers = site(), {"x-service-intent": sign_call("GET /search", {"path": "+AC8-etc"})}
    answer = client.get("/search?path=%2BAC8-etc", headers=headers, CONTENT_TYPE="text/plain; charset=utf-7")
    assert (answer.status_code, answer.json()) == (200, {"args": {"path": "+AC8-etc"}, "read": {"path": "+AC8-etc"}})


def test_signed_json_is_not_read_as_a_form_by_a_type_that_django_strips(site):
    args = {"note": "a&amount=9999&b"}
    answer = site().post(
        "/orders", encode_json(args).replace(b" ", b""), "application/x-www-form-urlencoded\xa0",
        headers={"x-service-intent": sign_call("POST /orders", args)},
    )  # fmt: skip
    assert (answer.status_code, json.loads(answer.content)["reason"], SHOP.runs) == (403, "args-mismatch", [])


def test_an_encoded_body_is_refused(site):
    answer = post(site(), "/orders", sign_call("POST /orders", ARGS), **{"content-encoding": "gzip"})
    problem = json.loads(answer.content)
    assert (answer.status_code, problem["reason"], SHOP.runs) == (403, "args-mismatch", [])
    assert "Content-Encoding" in problem["detail"]


def test_under_asgi_an_encoded_body_is_refused_too(site):
    site()
    headers = {"x-service-intent": sign_call("POST /orders", ARGS), "content-encoding": "gzip"}
    sent = AsyncClient().post("/orders", encode_json(ARGS), content_type="application/json", headers=headers)
    assert json.loads(asyncio.run(sent).content)["reason"] == "args-mismatch"


@pytest.mark.parametrize(("media_type", "status"), [("application/+json", 201), ("application/json\xa0", 403)])
def test_media_types_are_json_by_the_contract(site, media_type, status):
    header = {"x-service-intent": sign_call("POST /orders", ARGS)}
    answer = site().generic("POST", "/orders", encode_json(ARGS), media_type, headers=header)
    assert answer.status_code == status


def test_the_step_up_gate_gets_the_request(site):
    client = site(make_protection(step_up=lambda intent, request: request.headers.get("X-Stepped-Up") == intent.sub))
    header = sign_call("POST /orders", ARGS, requires_step_up=True)
    assert json.loads(post(client, "/orders", header).content)["reason"] == "step-up-required"
    assert post(client, "/orders", header, **{"x-stepped-up": "user-1"}).status_code == 201


@pytest.mark.parametrize("limits", [{"max_body": 10}, {"django": 10}])
def test_a_body_over_the_limit_of_the_protection_or_of_django_is_413(site, settings, limits):
    if "django" in limits:
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limits.pop("django")
    answer = post(site(make_protection(**limits)), "/orders", sign_call("POST /orders", ARGS))
    assert (answer.status_code, json.loads(answer.content)["code"]) == (413, "body-too-large")


class BrokenInput(io.BytesIO):
    """A body whose client is gone, as gunicorn (for chunks), uWSGI and mod_wsgi report it."""

    def read(self, size=-1, /):
        raise OSError("the client is gone")


@pytest.mark.parametrize("source", [io.BytesIO, BrokenInput])
def test_a_body_that_breaks_off_says_nothing_about_the_intent(site, source):
    client = site(make_protection(reports=(reports := RecordedReports())))
    header = {"x-service-intent": sign_call("POST /orders", ARGS)}
    cut_off = {"wsgi.input": source(encode_json(ARGS)[:-1])}
    answer = client.generic("POST", "/orders", encode_json(ARGS), "application/json", headers=header, **cut_off)
    assert (answer.status_code, json.loads(answer.content)["code"]) == (400, "body-incomplete")
    assert (reports.verifications, SHOP.runs) == ([], [])


@pytest.mark.parametrize("stores", [{"nonces": UnreachableStore()}, {"deliveries": UnreachableStore()}])
def test_an_unreachable_store_is_503_and_nothing_runs(site, stores):
    for address in ("/orders", "/refunds"):
        answer = post(site(make_protection(**stores)), address, sign_call(f"POST {address}", ARGS))
        assert (answer.status_code, json.loads(answer.content)["code"]) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) > 0
    assert SHOP.runs == []


@pytest.mark.parametrize(
    ("address", "run"), [("/orders", ARGS), ("/refunds", "refund"), ("/rendered", "rendered"), ("/awaited", "awaited")]
)
def test_a_retry_gets_the_first_response_and_runs_nothing(site, address, run):
    client = site()
    first, second = (post(client, address, sign_call(f"POST {address}", ARGS, tool_call_id="c")) for _ in range(2))
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert second.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert SHOP.runs == [run]


def test_another_call_under_the_same_id_is_422(site):
    client = site()
    post(client, "/orders", sign_call("POST /orders", ARGS, tool_call_id="c"))
    answer = post(client, "/orders", sign_call("POST /orders", {}, tool_call_id="c"), {})
    assert (answer.status_code, json.loads(answer.content)["code"]) == (422, "tool-call-id-reused")


@pytest.mark.parametrize("address", ["/gone", "/rendered", "/awaited"])
def test_after_a_view_that_raises_a_retry_runs(site, address):
    client = site()
    SHOP.fails = True
    for _ in range(2):
        assert post(client, address, sign_call(f"POST {address}", ARGS, tool_call_id="c")).status_code in (404, 500)
    assert SHOP.runs == [address[1:]] * 2


def test_a_streamed_response_is_sent_and_its_retry_does_not_run(site):
    client = site()
    assert b"".join(post(client, "/streamed", sign_call("POST /streamed", ARGS, tool_call_id="c"))) == b"ab"
    answer = post(client, "/streamed", sign_call("POST /streamed", ARGS, tool_call_id="c"))
    assert (answer.status_code, json.loads(answer.content)["code"]) == (409, "response-not-kept")
    assert SHOP.runs == ["streamed"]


def test_under_asgi_views_run_once_and_a_retry_gets_the_kept_response(site):
    site()

    async def calls():
        client = AsyncClient(raise_request_exception=False)
        answers = []
        for address in ("/orders", "/awaited", "/awaited"):
            header = sign_call(f"POST {address}", ARGS, tool_call_id=address)
            headers = {"x-service-intent": header}
            answers.append(
                await client.post(address, encode_json(ARGS), content_type="application/json", headers=headers)
            )
        return answers

    answers = asyncio.run(calls())
    assert [answer.status_code for answer in answers] == [201, 200, 200]
    assert answers[2].headers["Idempotent-Replayed"] == "true"
    assert SHOP.runs == [ARGS, "awaited"]


def test_under_asgi_a_stream_has_the_time_zone_that_its_view_activated(site):
    site()

    async def read():
        headers = {"x-service-intent": sign_call("GET /streamed-in-zone", {})}
        return [chunk async for chunk in await AsyncClient().get("/streamed-in-zone", headers=headers)]

    assert asyncio.run(read()) == [b"Asia/Tokyo"]


@pytest.mark.parametrize("address", ["/basket", "/bag"])
@pytest.mark.parametrize("under_asgi", [False, True])
def test_a_class_with_async_methods_is_protected_like_any_view(site, under_asgi, address):
    client = site(everything=False)

    def call(header):
        if not under_asgi:
            return post(client, address, header)
        async_client, headers = AsyncClient(raise_request_exception=False), {"x-service-intent": header}
        return asyncio.run(
            async_client.post(address, encode_json(ARGS), content_type="application/json", headers=headers)
        )

    assert call("nonsense!").status_code == 403
    first, second = (call(sign_call(f"POST {address}", ARGS, tool_call_id="c")) for _ in range(2))
    assert (first.status_code, first.content) == (second.status_code, second.content) == (200, encode_json(ARGS))
    assert second.headers["Idempotent-Replayed"] == "true"
    assert SHOP.runs == ["basket"]


@pytest.mark.parametrize("setting", [None, "no.such.module", object()])
def test_without_a_protection_in_the_settings_the_site_does_not_start(settings, setting):
    if setting is None:
        del settings.AFFIDAVIT_PROTECTION
    else:
        settings.AFFIDAVIT_PROTECTION = setting
    with pytest.raises((ImproperlyConfigured, ImportError)):
        IntentMiddleware(lambda request: None)


def test_the_setting_may_be_a_dotted_path(site, settings, monkeypatch):
    client = site()
    monkeypatch.setattr("support.signed_calls.GUARD", make_protection(), raising=False)
    settings.AFFIDAVIT_PROTECTION = "support.signed_calls.GUARD"
    assert post(client, "/orders", sign_call("POST /orders", ARGS)).status_code == 201
