"""Outlets of Celery's queue: the quick one puts what kombu's own channel would, and outlives its broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from kombu.connection import Connection

from penstock.errors import Unavailable
from penstock.workers.celery import celery_app
from penstock.workers.celery_broker import CeleryBroker
from penstock.workers.celery_outlet import Outlet, RedisOutlet, outlet
from tests.servers import Valkey, require

QUEUE = "outlets"


@pytest.fixture
def connection(valkey_server: Valkey) -> Iterator[Connection]:
    valkey_server.flush()
    with Connection(valkey_server.url) as connection:  # type: ignore[no-untyped-call]
        yield connection


def server(connection: Connection) -> Any:
    return cast(Any, connection.default_channel).client


def put(kind: type[Outlet], connection: Connection) -> dict[str, Any]:
    kind(connection, QUEUE).put(b'[["a", null], {}, {}]', {"task": "t", "id": "i"}, {"correlation_id": "i"})
    message: dict[str, Any] = json.loads(server(connection).rpop(QUEUE))
    assert len(message["properties"].pop("delivery_tag")) == 36
    return message


def test_the_quick_one_puts_the_very_message_that_kombu_would(connection: Connection) -> None:
    assert put(RedisOutlet, connection) == put(Outlet, connection)
    assert type(outlet(connection, QUEUE)) is RedisOutlet


def test_another_kind_of_broker_gets_it_by_its_own_channel() -> None:
    with Connection("memory://") as connection:  # type: ignore[no-untyped-call]
        made = outlet(connection, QUEUE)
        assert type(made) is Outlet
        connection.default_channel.queue_declare(QUEUE)
        made.put(b"[[1], {}, {}]", {"task": "t", "id": "i"}, {})
        with connection.SimpleQueue(QUEUE) as queue:
            assert queue.get(timeout=10).payload == [[1], {}, {}]


def test_a_connection_that_the_server_has_ended_is_opened_anew(connection: Connection) -> None:
    kept = RedisOutlet(connection, QUEUE)
    kept.put(b"[]", {}, {})
    server(connection).execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    kept.put(b"[]", {}, {})
    assert server(connection).llen(QUEUE) == 2, "and nothing is put twice"


def test_a_broker_that_is_away_is_said_to_be_and_one_that_comes_back_is_reached() -> None:
    with require(Valkey()) as server:
        broker = CeleryBroker(celery_app(None, [], broker=server.url))  # type: ignore[arg-type] # which nobody asks
        assert broker.look("a") is None
        server.kill()
        assert isinstance(broker.look("b"), Unavailable)
        assert broker._outlets.drop() is None, "what has failed is not used again"
        server.start()
        assert broker.look("c") is None
        assert broker.queued() == 1


def test_threads_that_tell_the_broker_at_once_each_get_their_own_answer(valkey_server: Valkey) -> None:
    valkey_server.flush()
    broker = CeleryBroker(celery_app(None, [], broker=valkey_server.url))  # type: ignore[arg-type] # which no one asks
    with ThreadPoolExecutor(max_workers=4) as threads:
        refused = [each for each in threads.map(broker.look, map(str, range(400))) if each is not None]
    assert refused == []
    assert broker.queued() == 400
