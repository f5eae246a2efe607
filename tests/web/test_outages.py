"""The service while a part of it is away: it says so at once, and is itself again with the first answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.errors import OBJECTS, Unavailable
from penstock.schema.role import Role
from tests.web.service import Service, film


class Cable:
    """What leads to the store of a service."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cut = False
        self.asked = 0
        for name in ("get", "find", "commit", "patch"):
            call = getattr(service.store.engine, name)
            monkeypatch.setattr(service.store.engine, name, lambda *a, call=call, **k: self._through(call, *a, **k))

    def _through(self, call: Any, *args: Any, **more: Any) -> Any:
        if self.cut:
            self.asked += 1
            raise Unavailable("nobody answers")
        return call(*args, **more)


def test_while_the_store_is_away_requests_are_refused_at_once_and_one_asks_for_all(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = service.client(Role.ADMIN)
    cable = Cable(service, monkeypatch)
    url = "/api/ops/tasks?pattern=by_status&status=waiting"
    assert admin.get(url).status_code == 200
    cable.cut = True
    for _ in range(3):
        refused = admin.get(url)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    asked = cable.asked
    for _ in range(20):
        assert admin.get(url).status_code == 503
    assert cable.asked - asked <= 3, "nobody waits for it but the one whose turn it is"
    assert admin.get("/healthz").status_code == 200
    ready = admin.get("/readyz")
    assert (ready.status_code, "store" in ready.json()["detail"]) == (503, True)
    cable.cut = False
    service.clock.advance(timedelta(seconds=4))
    assert admin.get(url).status_code == 200


def test_one_failure_that_is_no_outage_closes_the_service_to_nobody(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = service.client(Role.ADMIN)
    find, fails = service.store.engine.find, iter([True, True])

    def now_and_then(*args: Any, **more: Any) -> Any:
        if next(fails, False):
            raise Unavailable("too much at once")
        return find(*args, **more)

    monkeypatch.setattr(service.store.engine, "find", now_and_then)
    url = "/api/ops/tasks?pattern=by_status&status=waiting"
    assert [admin.get(url).status_code for _ in range(4)] == [503, 503, 200, 200]


def test_a_dead_message_can_be_dismissed_by_an_administrator(service: Service) -> None:
    from penstock.events.relay import Relay, dead_letters
    from penstock.ports.sink import Undeliverable
    from tests.web.films import Film
    from tests.web.service import film

    heard: list[int] = []

    class Sink:
        def deliver(self, messages: Any) -> list[Exception | None]:
            bad = [m.payload["number"] == 0 for m in messages]
            heard.extend(m.payload["number"] for m in messages if m.payload["number"])
            return [Undeliverable("no") if b else None for b in bad]

    record = Film.model_validate(film())
    service.store.create(record)
    for number in range(3):
        with service.store.change() as change:
            change.emit("film.told", record, number=number)
    relay = Relay(service.store, Sink(), owner="r")
    relay.drain()
    (dead,) = dead_letters(service.store)
    admin = service.client(Role.ADMIN)
    held = admin.get("/api/ops/held_messages?pattern=of_outbox&outbox=penstock.SystemMessage")
    assert len(held.json()["items"]) == 2
    done = admin.post(f"/api/ops/messages/{dead.event_id}/moves/dismiss", json={})
    assert done.status_code == 200, done.text
    service.clock.advance(timedelta(seconds=10))
    relay.drain()
    assert heard == [1, 2]


def test_files_that_are_away_do_not_close_the_service(service: Service) -> None:
    admin = service.client(Role.ADMIN)
    outages = service.app.state.guard.outages
    outages.lookout(OBJECTS).failed(Unavailable("the disk is gone", part=OBJECTS), sure=True)
    assert admin.get("/api/ops/tasks?pattern=by_status&status=waiting").status_code == 200


def test_a_refusal_that_cannot_be_written_down_is_still_one(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: Any) -> None:
        raise Unavailable("the store is away")

    monkeypatch.setattr(service.app.state.guard.refusals, "_write", away)
    refused = service.client(Role.VIEWER).post("/api/films/films", json=film())
    assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")
    assert "1 refusals of a viewer#" in caplog.text, "the log has it instead"
