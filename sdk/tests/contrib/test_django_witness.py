import asyncio
import gzip
import io
import json
import sys
from types import ModuleType, SimpleNamespace
from urllib.parse import urlencode

import pytest
from support.asgi_calls import exchange
from support.signed_calls import RecordedReports, encode_json, make_protection, sign_call
from support.witness_hub import HUB_AWAY, JSON, Hub, list_types, make_witness

pytest.importorskip("django", reason="needs Django")
pytest.importorskip("pytest_django", reason="needs pytest-django")

from asgiref.sync import iscoroutinefunction
from django.core.asgi import get_asgi_application
from django.core.exceptions import ImproperlyConfigured
from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import AsyncClient, Client
from django.urls import URLResolver, include, path, re_path

from affidavit.contrib.django import WitnessMiddleware, intent_exempt

pytestmark = pytest.mark.urls(__name__)

MIDDLEWARE = "affidavit.contrib.django.WitnessMiddleware"
INTENTS = "affidavit.contrib.django.IntentMiddleware"
SITE = SimpleNamespace(witness=None, read=None)


def order(request):
    return JsonResponse({"books": SITE.read(request)["books"]}, status=201)


def show(request, **parameters):
    return JsonResponse({"id": 1, "email": "anna@example.com"})


async def awaited(request, **parameters):
    await asyncio.sleep(0)
    return JsonResponse({"books": json.loads(request.body)["books"], "awaited": True})


def broken(request):
    raise RuntimeError("on purpose")


async def broken_awaited(request):
    raise RuntimeError("on purpose")


def streamed(request):
    return StreamingHttpResponse(iter([b"[", b"]"]), content_type=JSON)


def file(request):
    return FileResponse(open(__file__, "rb"))


def packed(request):
    return HttpResponse(
        gzip.compress(b'{"packed":1}', mtime=0), content_type=JSON, headers={"Content-Encoding": "gzip"}
    )


def page(request):
    return HttpResponse("<p>hello")


inner = [
    path("orders/<int:pk>/", show),
    path("files/<path:name>", show),
    re_path(r"^old/(?P<pk>[0-9]+)/$", show),
]
urlpatterns = [
    re_path(r"^odd/([0-9]+)/$", lambda request, number: JsonResponse({"odd": True})),
    path("orders", order),
    path("api/<slug:shop>/", include(inner)),
    re_path(r"^v2/(?P<shop>\w+)/", include(inner)),
    path("awaited/<uuid:pk>", awaited),
    path("broken", broken),
    path("broken-awaited", broken_awaited),
    path("streamed", streamed),
    path("file", file),
    path("packed", packed),
    path("page", page),
    path("health", intent_exempt(page)),
]


@pytest.fixture(autouse=True)
def _site(settings):
    settings.MIDDLEWARE = [MIDDLEWARE]
    settings.ALLOWED_HOSTS = ["*"]
    settings.FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 10
    SITE.read = lambda request: json.loads(request.body)


@pytest.fixture
def make_site(settings):
    """Return a function that gives the site a new witness. It returns the hub and the witness."""

    def make(hub=None, **options):
        hub = hub or Hub()
        settings.AFFIDAVIT_WITNESS = SITE.witness = make_witness(hub, **options)
        return hub, settings.AFFIDAVIT_WITNESS

    return make


def entries(hub, witness):
    assert witness.flush()
    return {(entry["method"], entry["path"], entry["status"]): entry for entry in hub.entries}


def test_a_site_is_reported_by_its_own_routes(make_site):
    hub, witness = make_site()
    client = Client()
    for number in range(3):
        assert client.get(f"/api/acme/orders/{number}/?full=1").json() == {"id": 1, "email": "anna@example.com"}
    client.get("/api/acme/files/a/b/c.txt")
    client.get("/v2/acme/old/17/")
    client.get("/odd/17/")
    assert client.post("/orders", {"books": [1, 2]}, content_type=JSON).json() == {"books": [1, 2]}
    reported = entries(hub, witness)
    assert {path for _, path, _ in reported} == {
        "/orders", "/api/{shop}/orders/{pk}/", "/api/{shop}/files/{name}", "/v2/{shop}/old/{pk}/", "/odd/{oddId}/",
    }  # fmt: skip
    fetched, posted = reported["GET", "/api/{shop}/orders/{pk}/", 200], reported["POST", "/orders", 201]
    assert (fetched["count"], fetched["parameters"]) == (3, {"shop": {"type": "string"}, "pk": {"type": "integer"}})
    assert fetched["response"]["properties"]["email"]["redacted"]
    assert "full" in fetched["query"]["properties"]
    assert posted["request"]["properties"]["books"]["items"]["seen"] == 2
    assert not [value for value in (b"anna", b"acme", b"c.txt") if value in b"".join(hub.bodies)]


@pytest.mark.parametrize("read", [
    lambda request: json.loads(request.body),
    lambda request: json.loads(request.read()),
    lambda request: json.load(request),
    lambda request: json.loads(b"".join(request)),
    lambda request: json.loads(request.readline()),
    lambda request: json.loads(request.read(4) + request.read(1000)),
    lambda request: (request.POST, json.loads(request.body))[1],
])  # fmt: skip
def test_the_witness_sees_a_body_by_whatever_attribute_the_view_reads_it(make_site, read):
    hub, witness = make_site()
    SITE.read = read
    assert Client().post("/orders", {"books": [1]}, content_type=JSON).status_code == 201
    assert "books" in entries(hub, witness)["POST", "/orders", 201]["request"]["properties"]


def test_a_body_that_the_view_does_not_read_is_not_read_for_it(make_site):
    hub, witness = make_site()
    SITE.read = lambda request: {"books": [], "seen": setattr(SITE, "was_read", request._read_started)}
    Client().post("/orders", {"books": [1]}, content_type=JSON)
    assert SITE.was_read is False
    assert "request" not in entries(hub, witness)["POST", "/orders", 201]


@pytest.mark.parametrize("first", [lambda request: None, lambda request: request.body])
def test_forms_and_uploads_work_and_have_names_and_kinds(make_site, first):
    hub, witness = make_site()
    SITE.read = lambda request: (first(request), {"books": [*request.POST, *request.FILES]})[1]
    form = urlencode({"a": "canary", "b": ["canary", "2"]}, doseq=True)
    posted = Client().post("/orders", form, content_type="application/x-www-form-urlencoded")
    assert posted.json() == {"books": ["a", "b"]}
    upload = io.BytesIO(b"canary" * 100_000)
    upload.name = "canary.txt"
    assert Client().post("/orders", {"note": "canary", "f": upload}).json() == {"books": ["note", "f"]}
    assert witness.flush()
    url_encoded, multipart = sorted(hub.entries, key=lambda entry: entry["requestMediaType"])
    assert list_types(url_encoded["request"]) == {"a": "string", "b": "array of string"}
    assert multipart["requestMediaType"] == "multipart/form-data"
    assert list_types(multipart["request"]) == {"note": "string", "f": "binary string"}
    assert witness.stats.bodies_left_out == {}
    assert b"canary" not in b"".join(hub.bodies)


def test_media_types_are_kept_for_bodies_that_are_not_read(make_site):
    hub, witness = make_site()
    Client().get("/page")
    Client().get("/streamed")
    SITE.read = lambda request: {"books": [len(request.body)]}
    Client().post("/orders", "a;b", content_type="text/csv; header=canary")
    reported = entries(hub, witness)
    assert reported["GET", "/page", 200]["responseMediaType"] == "text/html"
    assert reported["GET", "/streamed", 200]["responseMediaType"] == JSON
    assert reported["POST", "/orders", 201]["requestMediaType"] == "text/csv"
    assert b"canary" not in hub.bodies[0]


def test_a_body_over_django_s_limit_is_refused_as_without_a_witness(make_site, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    hub, witness = make_site()
    assert Client().post("/orders", {"books": [1, 2, 3, 4]}, content_type=JSON).status_code in (400, 413)
    assert [status for _, _, status in entries(hub, witness)] in ([400], [413])


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("where", ["/broken", "/broken-awaited"])
def test_an_exception_reaches_the_host_and_is_reported_as_a_status_only(make_site, raises, where):
    hub, witness = make_site()
    client = Client(raise_request_exception=raises)
    if raises:
        with pytest.raises(RuntimeError, match="on purpose"):
            client.get(where)
    else:
        assert client.get(where).status_code == 500
    assert "response" not in entries(hub, witness)["GET", where, 500]


def test_streams_files_compressed_responses_and_pages_pass_unchanged(make_site):
    hub, witness = make_site()
    client = Client()
    assert b"".join(client.get("/streamed")) == b"[]"
    with open(__file__, "rb") as source:
        assert b"".join(client.get("/file")) == source.read()
    assert client.get("/packed").content == gzip.compress(b'{"packed":1}', mtime=0)
    assert client.get("/page").content == b"<p>hello"
    reported = entries(hub, witness)
    assert "packed" in reported["GET", "/packed", 200]["response"]["properties"]
    assert [path for _, path, _ in reported if "response" in reported["GET", path, 200]] == ["/packed"]
    assert witness.stats.bodies_left_out == {"not JSON by their type": 2, "not seen whole": 1}


def test_requests_without_a_route_are_not_observed(make_site, settings):
    settings.APPEND_SLASH = True
    settings.MIDDLEWARE = [MIDDLEWARE, "django.middleware.common.CommonMiddleware"]
    hub, witness = make_site()
    assert Client().get("/api/acme/orders/17").status_code == 301
    assert Client().get("/wp-login.php").status_code == 404
    assert entries(hub, witness) == {}


def test_an_async_site_is_reported_as_well(make_site):
    hub, witness = make_site()

    async def calls():
        client = AsyncClient(raise_request_exception=False)
        where = "/awaited/550e8400-e29b-41d4-a716-446655440000"
        answer = await client.post(where, {"books": [1]}, content_type=JSON)
        assert answer.json() == {"books": [1], "awaited": True}
        assert (await client.post("/orders", {"books": [2]}, content_type=JSON)).json() == {"books": [2]}
        assert (await client.get("/broken-awaited")).status_code == 500

    asyncio.run(calls())
    reported = entries(hub, witness)
    assert reported.keys() == {
        ("POST", "/awaited/{pk}", 200), ("POST", "/orders", 201), ("GET", "/broken-awaited", 500),
    }  # fmt: skip
    assert "books" in reported["POST", "/awaited/{pk}", 200]["request"]["properties"]
    assert "books" in reported["POST", "/orders", 201]["request"]["properties"]


def test_in_an_async_site_the_middleware_stays_in_the_loop(make_site):
    make_site()

    async def get_response(request):
        return HttpResponse()

    assert iscoroutinefunction(WitnessMiddleware(get_response))
    assert not iscoroutinefunction(WitnessMiddleware(lambda request: HttpResponse()))


@pytest.mark.parametrize("order_of_both", [[MIDDLEWARE, INTENTS], [INTENTS, MIDDLEWARE]])
def test_witness_and_signed_intents_work_together(make_site, settings, order_of_both):
    settings.MIDDLEWARE = order_of_both
    settings.AFFIDAVIT_PROTECTION = make_protection()
    hub, witness = make_site()
    header = sign_call("POST /orders", {"books": [1]})
    facts = {"data": encode_json({"books": [1]}), "content_type": JSON}
    assert Client().post("/orders", **facts, headers={"x-service-intent": header}).status_code == 201
    assert Client().post("/orders", **facts).status_code == 403
    reported = entries(hub, witness)
    assert "books" in reported["POST", "/orders", 201]["request"]["properties"]
    assert "reason" in reported["POST", "/orders", 403]["response"]["properties"]
    assert header.encode() not in hub.bodies[0]


def cut_tenant(get_response):
    """Take the first segment from the path, as middleware for tenants does."""

    def serve(request):
        _, request.tenant, rest = request.path_info.split("/", 2)
        request.path_info = f"/{rest}"
        return get_response(request)

    return serve


def name_tenant(get_response):
    """Take the first segment from the path, and make it the prefix of the site."""

    def serve(request):
        request.META["SCRIPT_NAME"] += "/" + request.path_info.split("/")[1]
        return cut_tenant(get_response)(request)

    return serve


@pytest.mark.parametrize("middleware", [cut_tenant, name_tenant])
def test_what_middleware_takes_from_the_path_is_no_word_of_the_route(make_site, settings, middleware):
    hub, witness = make_site()
    settings.AFFIDAVIT_PROTECTION = make_protection(reports=(reports := RecordedReports()))
    settings.MIDDLEWARE = [INTENTS, MIDDLEWARE, f"{__name__}.{middleware.__name__}"]
    for mount in ("", "/site"):
        assert Client(SCRIPT_NAME=mount).get("/jane-doe/api/acme/orders/17/").status_code == 403
    witness.flush()
    assert witness.stats.observed == 2
    assert b"jane" not in b"".join(hub.bodies)
    assert {operation for _, operation in reports.operations} == {""}


class TenantPattern:
    """A prefix of all paths that is computed, like those of older versions of django-tenants."""

    converters = ()

    def match(self, target):
        prefix = str(self)
        return (target[len(prefix) :], (), {}) if target.startswith(prefix) else None

    def check(self):
        return []

    def __str__(self):
        return "clients/jane-doe/"


def choose_urls(get_response):
    """Give each tenant its own URLs, as django-tenants does."""

    def serve(request):
        request.urlconf = ModuleType("urls_of_tenant")
        request.urlconf.urlpatterns = [path(request.path.split("/orders")[0][1:] + "/", include(inner))]
        return get_response(request)

    return serve


def test_urls_that_are_made_for_a_tenant_give_no_word_of_the_route(make_site, settings):
    hub, witness = make_site()
    settings.AFFIDAVIT_PROTECTION = make_protection(reports=(reports := RecordedReports()))
    settings.ROOT_URLCONF = (URLResolver(TenantPattern(), inner), path("shops/", include(inner)))
    settings.MIDDLEWARE = [MIDDLEWARE, INTENTS]
    assert Client().get("/clients/jane-doe/orders/17/").status_code == 403
    settings.MIDDLEWARE = [MIDDLEWARE, INTENTS, f"{__name__}.choose_urls"]
    assert Client().get("/clients/jane-doe/orders/17/").status_code == 403
    witness.flush()
    assert witness.stats.observed == 2
    assert b"jane" not in b"".join(hub.bodies)
    assert {operation for _, operation in reports.operations} == {""}


def test_the_parameter_of_a_mount_of_starlette_is_no_word_of_the_route(make_site):
    routing = pytest.importorskip("starlette.routing", reason="needs Starlette")
    hub, witness = make_site()
    mounts = [routing.Mount("/v1", app=get_asgi_application()), routing.Mount("/{shop}", app=get_asgi_application())]
    for target in ("/v1/api/acme/orders/17/", "/jane-doe/api/acme/orders/17/"):
        response = asyncio.run(exchange(routing.Router(mounts), "GET", target, [("host", "localhost")]))
        assert response.status == 200
    assert entries(hub, witness).keys() == {("GET", "/v1/api/{shop}/orders/{pk}/", 200)}
    assert witness.stats.observed == 2


def test_the_mount_prefix_is_part_of_the_route(make_site):
    hub, witness = make_site()
    Client(SCRIPT_NAME="/site").get("/api/acme/orders/17/")
    assert entries(hub, witness).keys() == {("GET", "/site/api/{shop}/orders/{pk}/", 200)}


def test_no_header_value_and_no_query_value_is_reported(make_site):
    hub, witness = make_site()
    headers = {"authorization": "canary", "cookie": "s=canary", "x-canary": "canary"}
    Client(headers=headers).get("/api/acme/orders/17/?canary%40example.com=1&q=canary")
    assert entries(hub, witness)
    assert b"canary" not in hub.bodies[0]


def test_the_setting_may_be_a_dotted_path_and_other_types_are_refused(settings, make_site, monkeypatch):
    hub, witness = make_site()
    monkeypatch.setitem(sys.modules, "shop_witness", SimpleNamespace(witness=witness))
    settings.AFFIDAVIT_WITNESS = "shop_witness.witness"
    Client().get("/page")
    assert entries(hub, witness)
    for wrong in (None, "json.dumps", 7):
        settings.AFFIDAVIT_WITNESS = wrong
        with pytest.raises(ImproperlyConfigured):
            WitnessMiddleware(lambda request: HttpResponse())


@pytest.mark.parametrize("fault", [HUB_AWAY, RuntimeError("on purpose")])
def test_with_an_unreachable_hub_the_host_answers_as_without_a_witness(make_site, fault):
    _, witness = make_site(Hub(rules_fault=fault))
    for number in range(50):
        assert Client().get(f"/api/acme/orders/{number}/").json()["id"] == 1
    witness.flush()
    assert witness.stats.waiting == 50


def test_a_settled_request_is_counted_and_not_inspected(make_site, monkeypatch):
    hub, witness = make_site()
    client = Client()
    for _ in range(60):
        client.get("/api/acme/orders/1/")
        witness.flush()
    observe, observed = witness.observe, []
    monkeypatch.setattr(witness, "observe", lambda *args, **facts: (observed.append(args), observe(*args, **facts)))
    for _ in range(10):
        client.get("/api/acme/orders/1/")
    assert witness.flush()
    assert len(observed) < 10
    assert hub.counts == {("GET", "/api/{shop}/orders/{pk}/", 200): 70}
