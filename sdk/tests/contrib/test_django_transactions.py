"""Protected Django views under ATOMIC_REQUESTS, with the stores in the same database."""

import json
import multiprocessing
import os
import threading
from types import SimpleNamespace

import pytest
from support.signed_calls import encode_json, make_protection, sign_call

pytest.importorskip("django", reason="needs Django")
pytest.importorskip("pytest_django", reason="needs pytest-django")

from django.db import connection, connections
from django.http import JsonResponse
from django.test import Client
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View

from affidavit.contrib.django import (
    DjangoDeliveries,
    DjangoNonces,
    create_tables,
    intent_required,
)

pytestmark = pytest.mark.urls(__name__)

ARGS = {"isbn": "978", "qty": 2}
MIDDLEWARE = "affidavit.contrib.django.IntentMiddleware"
SHOP = SimpleNamespace(runs=[], fails=False)
COPIES = int(os.environ.get("AFFIDAVIT_ROUNDS", "3"))


def insert_order(request):
    """Insert a row, then raise if `SHOP.fails`."""
    SHOP.runs.append("written")
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO affidavit_test_orders VALUES (1)")
    if SHOP.fails:
        raise RuntimeError("on purpose")
    return JsonResponse({"in_transaction": connection.in_atomic_block})


class Till(View):
    @method_decorator(intent_required)
    def post(self, request):
        return insert_order(request)


urlpatterns = [
    path("written", insert_order),
    path("required/written", intent_required(insert_order)),
    path("twice/written", intent_required(intent_required(insert_order))),
    path("method/written", Till.as_view()),
]
ADDRESSES = ["/written", "/required/written", "/twice/written", "/method/written"]


@pytest.fixture
def tables(transactional_db):
    """Create the tables of the stores, and one of the shop, in a real database."""
    if connection.vendor != "postgresql":
        pytest.skip("needs a Django site on PostgreSQL")
    tables_before = set(connection.introspection.table_names())  # the site may have tables of the stores itself
    with connection.schema_editor() as editor:
        create_tables(None, editor)
        create_tables(None, editor)
        editor.execute("CREATE TABLE affidavit_test_orders (id INTEGER)")
    yield
    with connection.cursor() as cursor:  # end the stores' own connections, which outlive a test
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                       "WHERE datname = current_database() AND pid <> pg_backend_pid()")  # fmt: skip
    with connection.schema_editor() as editor:
        for table in {"affidavit_test_orders", "affidavit_nonces", "affidavit_deliveries"} - tables_before:
            editor.execute(f"DROP TABLE {table}")


@pytest.fixture
def atomic_requests(tables):
    before = connections["default"].settings_dict["ATOMIC_REQUESTS"]
    connections["default"].settings_dict["ATOMIC_REQUESTS"] = True
    yield
    connections["default"].settings_dict["ATOMIC_REQUESTS"] = before


@pytest.fixture
def site(settings, atomic_requests):
    """Return a client of a site whose views are protected, with the stores in the site's database."""
    SHOP.runs, SHOP.fails = [], False
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [MIDDLEWARE]
    settings.AFFIDAVIT_PROTECTION = make_protection(nonces=DjangoNonces(), deliveries=DjangoDeliveries())
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


def orders_written():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM affidavit_test_orders")
        return cursor.fetchone()[0]


def post(client, address, header):
    return client.post(
        address, encode_json(ARGS), content_type="application/json", headers={"x-service-intent": header}
    )


@pytest.mark.parametrize("address", ADDRESSES)
def test_under_atomic_requests_a_view_that_raises_rolls_back_and_its_nonce_stays_burnt(site, address):
    header = sign_call(f"POST {address}", ARGS)
    SHOP.fails = True
    assert post(site, address, header).status_code == 500
    assert orders_written() == 0
    SHOP.fails = False
    assert json.loads(post(site, address, header).content)["reason"] == "replayed"
    assert SHOP.runs == ["written"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_under_atomic_requests_a_retry_runs_after_a_failure_and_not_after_success(site, address):
    answers = []
    for fails in (True, False, False):
        SHOP.fails = fails
        answers.append(post(site, address, sign_call(f"POST {address}", ARGS, tool_call_id="c")))
    assert [answer.status_code for answer in answers] == [500, 200, 200]
    assert answers[1].json() == answers[2].json() == {"in_transaction": True}
    assert answers[2].headers["Idempotent-Replayed"] == "true"
    assert (orders_written(), SHOP.runs) == (1, ["written", "written"])


@pytest.mark.parametrize("address", ADDRESSES)
def test_under_atomic_requests_a_response_whose_commit_fails_is_not_kept(site, address):
    with connection.schema_editor() as editor:
        editor.execute("ALTER TABLE affidavit_test_orders ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED")
        editor.execute("INSERT INTO affidavit_test_orders VALUES (1)")
    for _ in range(2):
        assert post(site, address, sign_call(f"POST {address}", ARGS, tool_call_id="c")).status_code == 500
    assert (orders_written(), SHOP.runs) == (1, ["written", "written"])


def test_of_64_copies_of_an_intent_exactly_one_reaches_a_view_that_raises(site):
    SHOP.fails = True
    for _ in range(COPIES):
        header = sign_call("POST /written", ARGS)
        statuses = statuses_of_copies(header)
        assert statuses == [403] * 63 + [500]
    assert orders_written() == 0


def test_a_connection_that_breaks_before_the_commit_burns_nothing(tables):
    class LosesAnswer:
        """A connection that breaks after its statement reached the database, and before the answer came back."""

        def __init__(self, inner):
            self.inner = inner

        def cursor(self):
            return self

        def execute(self, sql, parameters):
            self.inner.cursor().execute(sql, parameters)
            raise OSError("gone")

        def close(self):
            self.inner.close()

    nonces = DjangoNonces()
    assert nonces.burn("w", "first", 2.0, now=1.0)
    nonces._database._idle[:] = map(LosesAnswer, nonces._database._idle)
    assert nonces.burn("w", "second", 2.0, now=1.0)


def statuses_of_copies(header: str) -> list[int]:
    """Return the statuses of 64 simultaneous requests, from 16 threads in each of 4 forked processes."""
    connections.close_all()
    context = multiprocessing.get_context("fork")
    answers, start = context.SimpleQueue(), context.Barrier(64)

    def call_once():
        client = Client(raise_request_exception=False)
        start.wait(60)
        answers.put(post(client, "/written", header).status_code)
        connections.close_all()

    def work():
        threads = [threading.Thread(target=call_once) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    workers = [context.Process(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    statuses = sorted(answers.get() for _ in range(64))
    for worker in workers:
        worker.join()
    return statuses
