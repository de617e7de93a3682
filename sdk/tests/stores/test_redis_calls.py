"""The stores in Redis warn if Redis may evict their keys, since nothing else would show it."""

import pytest
from support.store_servers import redis_server

from affidavit import RedisDeliveries, RedisNonces
from affidavit._stores import redis_calls

NOW = 1_800_000_000.0


@pytest.fixture
def client(tmp_path):
    with redis_server(tmp_path) as client:
        yield client


def use(client):
    nonces, deliveries = RedisNonces(client), RedisDeliveries(client)
    for name in "ab":
        nonces.burn("w", name, NOW + 300, now=NOW)
        nonces.is_burnt("w", name)
        deliveries.claim("w", name, "1" * 64, now=NOW)


def test_a_redis_that_evicts_keys_is_named_once_for_each_store(client, caplog):
    client.config_set("maxmemory-policy", "volatile-lru")
    client.config_set("maxmemory", "100mb")
    use(client)
    assert caplog.text.count("may evict") == 2
    assert "maxmemory-policy volatile-lru" in caplog.text


def test_a_redis_that_begins_to_evict_while_the_store_is_in_use_is_named(client, caplog, monkeypatch):
    monkeypatch.setattr(redis_calls, "CHECK_EVERY", 0.0)
    nonces = RedisNonces(client)
    for policy in ("noeviction", "allkeys-lru", "allkeys-lru", "noeviction", "allkeys-lru"):
        client.config_set("maxmemory-policy", policy)
        client.config_set("maxmemory", "100mb")
        nonces.is_burnt("w", "a")
    assert caplog.text.count("may evict") == 2


def test_a_redis_is_asked_for_its_policy_once_a_minute(client):
    assert redis_calls.CHECK_EVERY == 60
    use(client)
    assert client.info("commandstats")["cmdstat_info"]["calls"] == 2  # once for each store


@pytest.mark.parametrize(("policy", "limit"), [("noeviction", "100mb"), ("allkeys-lru", "0")])
def test_a_redis_that_evicts_nothing_is_not_named(client, caplog, policy, limit):
    client.config_set("maxmemory-policy", policy)
    client.config_set("maxmemory", limit)
    use(client)
    assert caplog.text == ""


def test_a_client_that_may_not_ask_works(client, caplog):
    client.execute_command("ACL", "SETUSER", "default", "-info")
    use(client)
    assert caplog.text == ""
