"""Verification reports name an operation by its route alone: a raw path holds values (contract §3)."""

import asyncio
import json
import re
from dataclasses import dataclass

import pytest
from support.asgi_calls import exchange
from support.signed_calls import make_protection, sign_call

from affidavit import VerificationReports, make_key
from affidavit.contrib import asgi, wsgi

NAMES = ["/users/jane-doe", "/jane-doe/orders", "/users/Ömer%20Öz", "/jane-doe", "/users/jane-doe/x"]
INVALID_HEADER = "eyJ"


class Hub:
    """A transport that keeps every item of every report."""

    def __init__(self):
        self.text, self.items = "", []

    def post_json(self, path, body, headers):
        self.text += body.decode()
        self.items += json.loads(body)["verifications"]
        return {"recorded": len(self.items)}


def list_reported_operations(call):
    """Return the reported operations. `call` gets a protection, and sends calls to an app under this protection."""
    hub = Hub()
    reports = VerificationReports(make_key("gak_"), transport=hub)
    call(make_protection(reports=reports))
    assert reports.flush()
    assert hub.items
    assert "jane" not in hub.text
    assert "mer" not in hub.text
    return {item.get("operation") for item in hub.items}


def call_wsgi(app):
    for path in NAMES:
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "HTTP_X_SERVICE_INTENT": INVALID_HEADER,
        }
        statuses = []
        list(app({**environ, "wsgi.input": None}, lambda status, headers, statuses=statuses: statuses.append(status)))
        assert statuses[0][:3] in {"403", "404"}


def call_asgi(app):
    async def call_all():
        for path in NAMES:
            response = await exchange(app, "GET", path, [("x-service-intent", INVALID_HEADER)])
            assert response.status in {403, 404}

    asyncio.run(call_all())


def test_a_wsgi_app_without_known_routes_reports_no_path():
    assert list_reported_operations(lambda protection: call_wsgi(wsgi.IntentMiddleware(None, protection))) == {None}


def test_an_asgi_app_without_known_routes_reports_no_path():
    assert list_reported_operations(lambda protection: call_asgi(asgi.IntentMiddleware(None, protection))) == {None}


def test_flask_is_reported_by_its_routes_although_it_never_saw_the_call():
    flask = pytest.importorskip("flask", reason="needs Flask")

    def call(protection):
        app = flask.Flask(__name__)
        app.add_url_rule("/users/<name>", "show", lambda name: name)
        app.wsgi_app = wsgi.IntentMiddleware(app.wsgi_app, protection)
        call_wsgi(app)

    assert list_reported_operations(call) == {"GET /users/{name}", None}


def test_the_prefix_of_a_server_and_the_method_belong_to_the_route_of_flask():
    flask = pytest.importorskip("flask", reason="needs Flask")
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    app = flask.Flask(__name__)
    app.add_url_rule("/users/<int:pk>", "show", str, methods=["GET"])
    app.wsgi_app = wsgi.IntentMiddleware(app.wsgi_app, make_protection(reports=reports))
    for method, path in (("GET", "/users/7"), ("DELETE", "/users/7"), ("GET", "/users/jane")):
        assert app.test_client().open(path, method=method, base_url="http://localhost/shop").status_code == 403
    reports.flush()
    assert [item.get("operation") for item in hub.items] == ["GET /shop/users/{pk}", None]
    assert [item["count"] for item in hub.items] == [1, 2]


def test_no_converter_of_the_app_runs_for_a_call_that_is_not_admitted():
    """A converter of Flask may ask the database."""
    flask = pytest.importorskip("flask", reason="needs Flask")
    routing = pytest.importorskip("werkzeug.routing")

    class Converter(routing.BaseConverter):
        def to_python(self, value):
            raise AssertionError(value)

    def call(protection):
        app = flask.Flask(__name__)
        app.url_map.converters["user"] = Converter
        app.add_url_rule("/users/<user:name>", "show", lambda name: name)
        app.wsgi_app = wsgi.IntentMiddleware(app.wsgi_app, protection)
        call_wsgi(app)

    assert list_reported_operations(call) == {None}


def test_a_decorated_view_of_flask_is_reported_by_its_route():
    flask = pytest.importorskip("flask", reason="needs Flask")
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    app = flask.Flask(__name__)
    app.add_url_rule("/users/<name>", "show", wsgi.intent_required(lambda name: name))
    app.wsgi_app = wsgi.IntentMiddleware(app.wsgi_app, make_protection(reports=reports), everything=False)
    assert app.test_client().get("/users/jane-doe").status_code == 403
    reports.flush()
    assert [item["operation"] for item in hub.items] == ["GET /users/{name}"]


def test_an_app_of_flask_that_another_mounts_is_not_reported_by_the_route_alone():
    flask = pytest.importorskip("flask", reason="needs Flask")
    dispatcher = pytest.importorskip("werkzeug.middleware.dispatcher")
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    front, staff = flask.Flask("front"), flask.Flask("staff")
    staff.add_url_rule("/users/<name>", "show", wsgi.intent_required(lambda name: name))
    apps = dispatcher.DispatcherMiddleware(front.wsgi_app, {"/staff": staff.wsgi_app})
    front.wsgi_app = wsgi.IntentMiddleware(apps, make_protection(reports=reports), everything=False)
    assert front.test_client().get("/staff/users/jane-doe").status_code == 403
    reports.flush()
    assert [item.get("operation") for item in hub.items] == [None]


@pytest.mark.parametrize("is_around", [False, True])
@pytest.mark.parametrize("package", ["starlette", "fastapi"])
def test_starlette_and_fastapi_are_reported_by_their_routes_although_they_never_saw_the_call(package, is_around):
    applications = pytest.importorskip(f"{package}.applications", reason=f"needs {package}")

    def call(protection):
        app = getattr(applications, {"starlette": "Starlette", "fastapi": "FastAPI"}[package])()
        app.add_route("/users/{name}", lambda request: None)
        if is_around:
            app = asgi.IntentMiddleware(app, protection)
        else:
            app.add_middleware(asgi.IntentMiddleware, protection=protection)
        call_asgi(app)

    assert list_reported_operations(call) == {"GET /users/{name}", None}


@pytest.mark.filterwarnings("ignore:The `root_path` parameter is deprecated")
@pytest.mark.parametrize("is_around", [False, True])
@pytest.mark.parametrize("root_path", ["", "/api"])
def test_a_refused_call_of_fastapi_has_the_operation_of_an_accepted_one(is_around, root_path):
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")
    static_files = pytest.importorskip("starlette.staticfiles")

    def show(pk: int):
        return pk

    async def show_in_tenant(tenant: str, pk: int):
        return pk

    inner, outer, mounted = fastapi.APIRouter(), fastapi.APIRouter(prefix="/v1"), fastapi.FastAPI()
    inner.add_api_route("/orders/{pk}", show)
    inner.add_api_route("/orders/{pk}", show, methods=["POST"])
    outer.include_router(inner, prefix="/shop")
    mounted.include_router(inner)
    app = fastapi.FastAPI(root_path=root_path)
    app.add_api_route("/plain", lambda: 1)
    app.include_router(outer)
    app.include_router(fastapi.APIRouter(), prefix="/empty")
    app.mount("/files", static_files.StaticFiles(directory="."))
    app.mount("/tenants/{tenant}", mounted)
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    protection = make_protection(reports=reports)
    if is_around:
        app = asgi.IntentMiddleware(app, protection)
    else:
        app.add_middleware(asgi.IntentMiddleware, protection=protection)
    for method, path, route in (
        ("GET", "/plain", "/plain"),
        ("GET", "/v1/shop/orders/7", "/v1/shop/orders/{pk}"),
        ("POST", "/v1/shop/orders/7", "/v1/shop/orders/{pk}"),
        ("GET", "/tenants/jane/orders/7", "/tenants/{tenant}/orders/{pk}"),
        ("GET", "/tenants/jane/files/7", None),
        ("DELETE", "/v1/shop/orders/7", "/v1/shop/orders/{pk}"),  # 405
        ("GET", "/files/jane", None),
        ("GET", "/jane", None),
    ):
        if root_path and path.startswith("/tenants/"):
            continue  # Starlette itself finds no route behind a mount if the path lacks the prefix
        signed_path = path if is_around else root_path + path
        for header in (INVALID_HEADER, sign_call(f"{method} {signed_path}", {})):
            asyncio.run(exchange(app, method, path, [("x-service-intent", header)]))
            reports.flush()
        (refused, accepted) = hub.items
        assert refused.get("operation") == (route and f"{method} {root_path}{route}")
        assert (accepted["result"], accepted.get("operation")) == ("accepted", refused.get("operation"))
        hub.items.clear()


def test_only_patterns_of_starlette_are_matched_for_a_call_that_is_not_admitted():
    """A converter of the app may ask the database, and a route of another kind may run any code."""
    applications = pytest.importorskip("starlette.applications", reason="needs starlette")
    routing = pytest.importorskip("starlette.routing")
    convertors = pytest.importorskip("starlette.convertors")

    class Converter(convertors.Convertor):
        regex = "[^/]+"

        def convert(self, value):
            raise AssertionError(value)

        def to_string(self, value):
            return value

    class OwnRoute(routing.BaseRoute):
        def matches(self, scope):
            raise AssertionError(scope)

    convertors.register_url_convertor("user", Converter())

    def call(protection):
        routes = [
            routing.Route("/users/{name:user}", lambda request: None),
            OwnRoute(),
            routing.Route("/{name}", print),
        ]
        app = applications.Starlette(routes=routes)
        app.add_middleware(asgi.IntentMiddleware, protection=protection)
        call_asgi(app)

    assert list_reported_operations(call) == {"GET /users/{name}", None}


def test_a_refusal_is_sent_although_a_route_of_the_app_s_own_kind_is_no_usual_one():
    applications = pytest.importorskip("starlette.applications", reason="needs starlette")
    routing = pytest.importorskip("starlette.routing")

    class OwnRoute(routing.BaseRoute):
        path_regex = re.compile("/(?P<name>.*)")
        methods = None

    def call(protection):
        app = applications.Starlette(routes=[OwnRoute()])
        app.add_middleware(asgi.IntentMiddleware, protection=protection)
        call_asgi(app)

    assert list_reported_operations(call) == {None}


def test_django_reports_only_routes(request):
    urls = pytest.importorskip("django.urls", reason="needs Django")
    test = pytest.importorskip("django.test")
    pytest.importorskip("pytest_django", reason="needs pytest-django")
    settings = request.getfixturevalue("settings")

    def call(protection):
        settings.ROOT_URLCONF = (urls.path("users/<name>", print), urls.re_path("^([a-z-]+)/orders$", print))
        settings.MIDDLEWARE = ["affidavit.contrib.django.IntentMiddleware"]
        settings.AFFIDAVIT_PROTECTION = protection
        statuses = [test.Client().get(path, headers={"x-service-intent": INVALID_HEADER}).status_code for path in NAMES]
        assert statuses == [403, 403, 403, 404, 404]

    assert list_reported_operations(call) == {"GET /users/{name}", None}


def test_a_route_of_fastapi_is_reported_with_the_prefixes_of_its_routers():
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")
    app, outer, inner, mounted = (
        fastapi.FastAPI(),
        fastapi.APIRouter(prefix="/a"),
        fastapi.APIRouter(),
        fastapi.FastAPI(),
    )
    inner.add_api_route("/users/{name}", asgi.intent_required(lambda name: name))
    outer.include_router(inner, prefix="/b")
    app.include_router(outer, prefix="/v1")
    mounted.include_router(inner, prefix="/c")
    app.mount("/tenants/{tenant}", mounted)
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    app.add_middleware(asgi.IntentMiddleware, protection=make_protection(reports=reports), everything=False)
    for path in ("/v1/a/b/users/jane-doe", "/tenants/jane/c/users/jane-doe"):
        assert asyncio.run(exchange(app, "GET", path)).status == 403
    reports.flush()
    assert [item["operation"] for item in hub.items] == [
        "GET /v1/a/b/users/{name}", "GET /tenants/{tenant}/c/users/{name}"
    ]  # fmt: skip


def test_what_middleware_takes_from_the_path_is_not_reported():
    applications = pytest.importorskip("starlette.applications", reason="needs starlette")
    inner = applications.Starlette()
    inner.add_route("/users/{name}", asgi.intent_required(lambda request: None))

    async def cut_tenant(scope, receive, send):
        scope["root_path"] = "/jane-doe"
        await inner(scope, receive, send)

    def call(protection):
        app = asgi.IntentMiddleware(cut_tenant, protection, everything=False)
        for path in ("/jane-doe/users/jane", "/users/jane"):
            assert asyncio.run(exchange(app, "GET", path)).status == 403

    assert list_reported_operations(call) == {"GET /users/{name}", None}


def test_a_view_of_fastapi_that_has_no_hash_is_reported_by_its_route_and_answers():
    fastapi = pytest.importorskip("fastapi", reason="needs FastAPI")

    @dataclass
    class View:
        number: int

        def __call__(self, pk: int):
            return self.number

    app = fastapi.FastAPI()
    app.add_api_route("/first/{pk}", View(1))
    app.add_api_route("/second/{pk}", View(2))
    reports = VerificationReports(make_key("gak_"), transport=(hub := Hub()))
    app.add_middleware(asgi.IntentMiddleware, protection=make_protection(reports=reports))
    for name, number in (("first", 1), ("second", 2), ("first", 1)):
        header = sign_call(f"GET /{name}/7", {})
        response = asyncio.run(exchange(app, "GET", f"/{name}/7", [("x-service-intent", header)]))
        assert (response.status, response.json) == (200, number)
    reports.flush()
    assert {item["operation"]: item["count"] for item in hub.items} == {"GET /first/{pk}": 2, "GET /second/{pk}": 1}


class Litestar:
    """A stand-in for Litestar. When a route matches, it puts the template into the scope, without converters."""

    async def __call__(self, scope, receive, send):
        scope["litestar_app"] = self
        if scope["path"].startswith("/users/") and scope["path"].count("/") == 2:
            scope["path_template"] = "/users/{name}"
        await asgi.intent_required(self.show)(scope, receive, send)

    async def show(self, scope, receive, send):
        raise AssertionError("no intent")


def test_a_decorated_view_of_litestar_is_reported_by_its_route():
    def call(protection):
        call_asgi(asgi.IntentMiddleware(Litestar(), protection, everything=False))

    assert list_reported_operations(call) == {"GET /users/{name}", None}
