"""The buckets of PostgreSQL and Redis keep their limit, also for simultaneous requests. SQL follows the pure rule."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
import redis
from django.db import connection
from django.utils import timezone
from support import store_servers

from workspaces.limits import database_buckets
from workspaces.limits.database_buckets import DatabaseBuckets, prune_buckets
from workspaces.limits.leases import Bucket, Limit, grant_tokens
from workspaces.limits.redis_buckets import REDIS_PREFIX, RedisBuckets
from workspaces.models import TokenBucket

LIMIT = Limit("key", 1000)
ROUNDING = 0.01  # tokens: Redis keeps microseconds


@pytest.fixture
def redis_url(tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield the address of a Redis. It is the installed redis-server, or the one in a wheel if none is installed."""
    installed = store_servers.shutil.which("redis-server")
    monkeypatch.setattr(store_servers, "REDIS_SERVER", installed or store_servers.REDIS_SERVER)
    folder = tmp_path_factory.mktemp("redis")
    with store_servers.redis_server(folder):
        yield f"unix://{folder}/redis.sock"


@pytest.fixture(params=["database", "redis"])
def buckets(request: pytest.FixtureRequest) -> Any:
    if request.param == "redis":
        return RedisBuckets(request.getfixturevalue("redis_url"))
    request.getfixturevalue("db")
    return DatabaseBuckets()


def test_a_new_bucket_is_full_and_an_empty_one_refills(buckets):
    grants = [buckets.grant("key:1", LIMIT, 100).tokens for _ in range(20)]
    assert grants[:7] == [100] * 7
    first_total = sum(grants)
    assert LIMIT.capacity <= first_total < LIMIT.capacity + LIMIT.rate  # tokens are refilled meanwhile
    while buckets.grant("key:1", LIMIT, 1000).tokens:
        pass
    time.sleep(0.1)
    assert 90 <= buckets.grant("key:1", LIMIT, 1000).tokens <= LIMIT.capacity


def test_buckets_are_independent(buckets):
    while buckets.grant("key:1", LIMIT, 1000).tokens:
        pass
    assert buckets.grant("key:2", LIMIT, 10).tokens == 10


def test_a_slow_bucket_grants_one_token_and_then_none(buckets):
    slow = Limit("key", 1)
    assert buckets.grant("key:1", slow, 5).tokens == 1
    grant = buckets.grant("key:1", slow, 5)
    assert grant.tokens == 0
    assert 0 <= grant.bucket_level < 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_get_no_more_tokens_than_the_bucket_has(buckets):
    slow = Limit("key", 20)
    granted: list[int] = []
    barrier = threading.Barrier(8)
    start_time = time.monotonic()

    def ask() -> None:
        barrier.wait()
        granted.extend(buckets.grant("key:1", slow, 3).tokens for _ in range(10))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - start_time
    assert slow.capacity <= sum(granted) <= slow.capacity + slow.rate * seconds


AGES = [-3600, -2, -1.5, -0.5, 0, 0.01, 0.2, 3600]
TOKENS = [-1000, 0, 0.4, 3.7, 750]


@pytest.mark.django_db
@pytest.mark.parametrize("age", AGES)
@pytest.mark.parametrize("tokens", TOKENS)
def test_the_sql_statement_equals_the_pure_rule(age, tokens):
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now = cursor.fetchone()[0]
    TokenBucket.objects.create(name="key:1", tokens=tokens, refilled_at=now - timedelta(seconds=age))
    grant = DatabaseBuckets().grant("key:1", LIMIT, 5)
    row = TokenBucket.objects.get()
    seconds = (timezone.now() - now).total_seconds()
    least = grant_tokens(Bucket(tokens, -age), LIMIT, 5, 0.0)[1]
    most = grant_tokens(Bucket(tokens, -age), LIMIT, 5, seconds)[1]
    assert least.tokens <= grant.tokens <= most.tokens
    assert row.tokens == grant.bucket_level <= LIMIT.capacity
    assert row.refilled_at <= timezone.now() + timedelta(seconds=1)


def test_the_lua_script_equals_the_pure_rule(redis_url):
    client = redis.Redis.from_url(redis_url, decode_responses=True)

    def read_clock() -> float:
        seconds, microseconds = client.time()
        return seconds + microseconds / 1_000_000

    for number, (age, tokens) in enumerate(product(AGES, TOKENS)):
        name, now = f"{REDIS_PREFIX}key:{number}", read_clock()
        client.hset(name, mapping={"tokens": tokens, "refilled_at": f"{now - age:.6f}"})
        grant = RedisBuckets(redis_url).grant(f"key:{number}", LIMIT, 5)
        stored = {member: float(text) for member, text in client.hgetall(name).items()}
        bounds = [grant_tokens(Bucket(tokens, -age), LIMIT, 5, seconds) for seconds in (0.0, read_clock() - now)]
        (least_bucket, least), (most_bucket, most) = bounds
        assert least.tokens <= grant.tokens <= most.tokens, (age, tokens)
        assert stored["tokens"] == grant.bucket_level <= LIMIT.capacity, (age, tokens)
        sums = [bounded.tokens + bounded.bucket_level for bounded in (least, grant, most)]
        assert sums[0] - ROUNDING <= sums[1] <= sums[2] + ROUNDING, (age, tokens)
        refilled_at = stored["refilled_at"] - now
        assert least_bucket.refilled_at - 1e-5 <= refilled_at <= most_bucket.refilled_at + 1e-5, (age, tokens)
        assert 0 < client.pttl(name) <= 5000


@pytest.mark.django_db
def test_while_redis_is_unreachable_the_database_counts_and_redis_is_not_asked_again(monkeypatch, caplog):
    buckets = RedisBuckets("unix:///nonexistent/redis.sock")
    for _ in range(3):
        assert buckets.grant("key:1", LIMIT, 10).tokens == 10
    assert TokenBucket.objects.filter(name="key:1").exists()
    assert caplog.text.count("Redis does not answer") == 1
    assert redis.ConnectionError.__name__ in caplog.text


@pytest.mark.django_db
def test_all_rows_of_full_buckets_are_deleted_in_batches(monkeypatch):
    monkeypatch.setattr(database_buckets, "ROWS_PRUNED_AT_ONCE", 2)
    now = timezone.now()
    TokenBucket.objects.create(name="key:1", tokens=0, refilled_at=now)
    for host in range(5):
        TokenBucket.objects.create(name=f"address:10.0.0.{host}/32", tokens=0, refilled_at=now - timedelta(minutes=2))
    assert prune_buckets(now=now) == 5
    assert TokenBucket.objects.get().name == "key:1"
