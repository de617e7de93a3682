"""Decorated functions inside of frameworks on Django, which have requests of their own or make the responses."""

import functools
from types import SimpleNamespace

import pytest
from support.signed_calls import encode_json, make_protection, sign_call

pytest.importorskip("django", reason="needs Django")
pytest.importorskip("pytest_django", reason="needs pytest-django")

from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse, JsonResponse
from django.test import Client
from django.urls import path
from django.utils.decorators import method_decorator

from affidavit.contrib.django import intent_required

pytestmark = pytest.mark.urls(__name__)

ARGS = {"isbn": "978"}
MIDDLEWARE = "affidavit.contrib.django.IntentMiddleware"
SHOP = SimpleNamespace(runs=0, result={"id": 1})
urlpatterns = []


def respond_with_json(function):
    """Return a view that makes the response of what a function returns, as Django Ninja does."""

    @functools.wraps(function)
    def view(request):
        result = function(request)
        if isinstance(result, HttpResponse):
            return result
        status, body = result if isinstance(result, tuple) else (200, result)
        return JsonResponse(body, status=status, safe=False)

    return view


@respond_with_json
@intent_required
def order(request):
    SHOP.runs += 1
    return SHOP.result


@intent_required
async def order_soon(request):
    SHOP.runs += 1
    return SHOP.result


@pytest.fixture(autouse=True)
def shop(settings):
    settings.MIDDLEWARE = []
    settings.AFFIDAVIT_PROTECTION = make_protection()
    SHOP.runs, SHOP.result = 0, {"id": 1}
    urlpatterns[:] = [
        path("orders", order),
        path("soon", respond_with_json(async_to_sync(order_soon))),
    ]


def post(address, **options):
    header = sign_call(f"POST {address}", ARGS, **options)
    return Client().post(
        address, encode_json(ARGS), content_type="application/json", headers={"x-service-intent": header}
    )


@pytest.mark.parametrize("result", [{"id": 1}, None], ids=repr)
@pytest.mark.parametrize("address", ["/orders", "/soon"])
def test_a_retry_runs_no_function_again_whose_result_is_made_a_response_later(address, result):
    SHOP.result = result
    assert post(address, tool_call_id="c").json() == result
    retry = post(address, tool_call_id="c")
    assert (retry.status_code, retry.json()["code"], SHOP.runs) == (409, "response-not-kept", 1)


@pytest.mark.parametrize(("result", "runs"), [((201, {"id": 1}), 1), ((503, {"fault": 1}), 2)])
def test_a_retry_runs_the_function_again_if_its_status_asks_for_it(result, runs):
    SHOP.result = result
    assert [post("/orders", tool_call_id="c").status_code, post("/orders", tool_call_id="c").status_code] == (
        [201, 409] if runs == 1 else [503, 503]
    )
    assert SHOP.runs == runs


@pytest.fixture
def with_rest_framework(settings):
    """Add views of Django REST framework that are decorated where its own request reaches them."""
    decorators, response, views = (
        pytest.importorskip(f"rest_framework.{name}", reason="needs Django REST framework")
        for name in ("decorators", "response", "views")
    )
    settings.REST_FRAMEWORK = {"UNAUTHENTICATED_USER": None}
    open_to_all = {"authentication_classes": (), "permission_classes": ()}

    def refund(request):
        SHOP.runs += 1
        return response.Response({"for": request.intent.sub})

    def view_function(function):
        for name, classes in open_to_all.items():
            function = getattr(decorators, name)(classes)(function)
        return decorators.api_view(["POST"])(function)

    class Refunds(views.APIView):
        post = method_decorator(intent_required)(lambda self, request: refund(request))

    @method_decorator(intent_required, name="dispatch")
    class Protected(views.APIView):
        post = staticmethod(refund)

    urlpatterns[:] = [
        path("inside", view_function(intent_required(refund))),
        path("method", Refunds.as_view(**open_to_all)),
        path("around", intent_required(view_function(refund))),
        path("class", Protected.as_view(**open_to_all)),
    ]


@pytest.mark.parametrize("address", ["/inside", "/method"])
def test_a_request_of_another_framework_is_named_before_the_view_runs(with_rest_framework, address):
    with pytest.raises(ImproperlyConfigured, match=r"got a Request.*above @api_view.*name='dispatch'"):
        post(address)
    assert SHOP.runs == 0


@pytest.mark.parametrize("address", ["/inside", "/method", "/around", "/class"])
def test_views_of_rest_framework_are_protected_by_the_middleware(with_rest_framework, settings, address):
    settings.MIDDLEWARE = [MIDDLEWARE]
    assert Client().post(address, encode_json(ARGS), content_type="application/json").status_code == 403
    assert post(address, tool_call_id="c").json() == {"for": "user-1"}
    assert post(address, tool_call_id="c").headers["Idempotent-Replayed"] == "true"
    assert SHOP.runs == 1


@pytest.mark.parametrize("address", ["/around", "/class"])
def test_views_of_rest_framework_are_protected_by_the_decorator_around_them(with_rest_framework, address):
    assert Client().post(address, encode_json(ARGS), content_type="application/json").status_code == 403
    assert post(address, tool_call_id="c").json() == {"for": "user-1"}
    assert post(address, tool_call_id="c").headers["Idempotent-Replayed"] == "true"
    assert SHOP.runs == 1
