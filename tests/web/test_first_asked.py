"""A service is there at once: what FastAPI makes of a route's signature is made when the route is first asked."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
from fastapi.exceptions import FastAPIError

from penstock.schema.role import Role
from penstock.web.route import AdmittedRoute
from tests.web.service import Service


def analysed(service: Service) -> set[str]:
    routes = (route for route in service.app.routes if isinstance(route, AdmittedRoute))
    return {f"{sorted(route.methods or ())} {route.path}" for route in routes if "dependant" in vars(route)}


def test_a_route_is_analysed_when_it_is_first_asked_and_no_other_with_it(tmp_path: Path) -> None:
    service = Service(tmp_path)
    before = analysed(service)
    answer = service.client(Role.VIEWER).get("/api/films/films/p1/Robot")
    assert answer.status_code == 404
    (asked,) = analysed(service) - before
    assert asked.startswith("['GET'] /api/films/films/{")
    assert len(before) < 5


def test_of_many_that_ask_at_the_same_time_all_have_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(AdmittedRoute, "get_route_handler", lambda route: made.append(route))
    route = AdmittedRoute("/x/{a}", lambda a: a, methods=["GET"])
    barrier, found = Barrier(8), []

    def ask() -> None:
        barrier.wait()
        found.append((route.app, route.dependant))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(app) for app, _ in found}) == len({id(dependant) for _, dependant in found}) == 1
    assert made == [route]


def test_who_asks_while_it_is_being_made_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []

    def made(route: AdmittedRoute) -> None:
        late.start()
        late.join(0.05)  # one that does not wait is there by then, and finds nothing
        assert not found

    monkeypatch.setattr(AdmittedRoute, "get_route_handler", made)
    route = AdmittedRoute("/x/{a}", lambda a: a, methods=["GET"])
    late = Thread(target=lambda: found.append(hasattr(route, "app")))
    assert route.dependant is not None
    late.join()
    assert found == [True]


def test_a_signature_that_cannot_be_is_told_to_everybody_who_asks() -> None:
    def wrong(a: Thread) -> None:
        """No request has a thread in it."""

    route = AdmittedRoute("/x", wrong)
    for _ in range(2):
        with pytest.raises(FastAPIError, match="Thread"):
            _ = route.dependant


def test_what_no_route_has_is_missed_by_its_name() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = AdmittedRoute("/x", lambda: None).no_such_thing
