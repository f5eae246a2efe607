"""Who may do what: every route, asked by everybody."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from penstock import Store
from penstock.auth.api_keys import ApiKey, list_keys, revoke_key
from penstock.domains import INSTALLED
from penstock.errors import OutOfScope
from penstock.events.feed_records import FeedLetter, LetterStatus
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.seals import projects
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from penstock.web import refusals
from penstock.web.refusals import MOST, WINDOW, Refusals
from penstock.work.domain_context import DomainContext
from tests.web.films import INSTALLED as FILMS
from tests.web.films import Film
from tests.web.routes import Door, doors
from tests.web.service import HERE, STRANGER, Service, film

PROJECT, OTHER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
PLACES: dict[str, tuple[tuple[str, int], dict[str, str]]] = {
    "from elsewhere": (STRANGER, {}),
    "on this machine": (HERE, {}),
    "behind a proxy on it": (HERE, {"Host": "penstock.example", "X-Forwarded-For": STRANGER[0]}),
    "saying to be here": (STRANGER, {"Host": "127.0.0.1:8000", "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "::1"}),
}
KEYLESS = ("nobody", "a wrong key", "a revoked key")
KEYS = [(role, project) for role in Role for project in (None, PROJECT, OTHER)]
CALLERS = (*KEYLESS, *KEYS)
FIRST = "from elsewhere"
IN_TURN = (*KEYLESS[1:], (Role.VIEWER, None), (Role.ADMIN, OTHER))
"""What a place could change is whether a key is needed and whom it names: of all places each route is asked by nobody
and by one of these; each role and project is tried from one place."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("access"), installed=(*INSTALLED, FILMS), streams=0)


@pytest.fixture(scope="module")
def tokens(everything: Service) -> dict[Any, str | None]:
    revoked = everything.key(Role.ADMIN)
    revoke_key(everything.store, revoked.split("_")[1], by="tests")
    wrong = everything.key(Role.ADMIN)[:-4] + "AAAA"
    made: dict[Any, str | None] = {"nobody": None, "a wrong key": wrong, "a revoked key": revoked}
    return made | {(role, project): everything.key(role, project) for role, project in KEYS}


def expected(door: Door, caller: Any) -> set[str]:
    """What the guard may say: in, 401 or 403."""
    if door.access.role is None and door.access.per_minute is None:
        return {"in"}  # a probe asks nobody: to look a key up takes a store that answers
    if caller in ("a wrong key", "a revoked key"):
        return {"401"}
    if door.access.role is None:
        return {"in"}
    if caller == "nobody":
        return {"401"}
    role, project = caller
    if not role.includes(door.access.role):
        return {"403"}
    return {"in"} if project is None else {"in", "out of scope"}


def verdict(answer: Any) -> str:
    kind: Any = answer.json().get("type") if answer.headers.get("content-type") == "application/problem+json" else None
    return {"unauthenticated": "401", "forbidden": "403", "out-of-scope": "out of scope"}.get(kind, "in")


def everybody(number: int) -> Sequence[Any]:
    return CALLERS


def two_of_them(number: int) -> Sequence[Any]:
    return ("nobody", IN_TURN[number % len(IN_TURN)])


@pytest.mark.parametrize(
    ("place", "callers"),
    [
        (FIRST, everybody),
        *((place, two_of_them) for place in PLACES if place != FIRST),
        *(pytest.param(place, everybody, marks=pytest.mark.long) for place in PLACES if place != FIRST),
    ],
)
def test_every_route_lets_in_whom_it_should_and_nobody_else(
    everything: Service, tokens: dict[Any, str | None], place: str, callers: Callable[[int], Sequence[Any]]
) -> None:
    """Route by role by project by place: drawn from the application, so that a new route is attacked by being there."""
    address, headers = PLACES[place]
    with closing(everything.client(address=address)) as client:
        for number, door in enumerate(doors(everything.app)):
            request = door.request(PROJECT)
            for caller in callers(number):
                allowed = {} if tokens[caller] is None else {"Authorization": f"Bearer {tokens[caller]}"}
                everything.clock.advance(WINDOW)  # public routes have their limits
                answer = client.request(**request, headers={**headers, **allowed})
                found = verdict(answer)
                assert found in expected(door, caller), f"{caller} {place} at {door}: {found}"
                assert answer.status_code != 500 or door.path.endswith("/crash"), f"{caller} at {door}: {answer.text}"


def test_the_matrix_has_every_kind_of_route(everything: Service) -> None:
    asked = {door.access.role for door in doors(everything.app)}
    assert asked == {None, *Role}


class Untouchable:
    """An engine that nobody may use."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} of the store that sees every project")


def test_a_domains_own_route_uses_the_store_of_its_caller(tmp_path: Path) -> None:
    """Of every shipped domain: the store that it is given with its surroundings sees all projects."""

    def without_store(each: DomainPlugin) -> DomainPlugin:
        def routes(context: DomainContext) -> Any:
            assert each.routes is not None
            forbidden = Store(context.store.engine, clock=context.store.clock)
            forbidden.engine = Untouchable()
            return each.routes(replace(context, store=forbidden))

        return each if each.routes is None else replace(each, routes=routes)

    service = Service(tmp_path, installed=[without_store(i) for i in (*INSTALLED, FILMS)], streams=0)
    bound = service.client(Role.ADMIN, project=PROJECT)
    asked = [d for d in doors(service.app) if d.access.role is not None and not d.is_stream]
    for door in asked:
        answer = bound.request(**door.request(PROJECT))
        assert answer.status_code < 500 or door.path.endswith("/crash"), f"{door}: {answer.text}"
    assert any(d.path == "/cinema/shouts" for d in asked)


def test_another_project_is_as_good_as_absent(service: Service) -> None:
    mine, other = service.client(Role.EDITOR, project="p1"), service.client(Role.EDITOR, project="p2")
    assert mine.post("/api/films/films", json=film()).status_code == 201
    key = {"project_id": "p1", "title": "Robot"}
    assert mine.get("/api/films/films/p1/Robot").status_code == 200
    assert other.get("/api/films/films/p1/Robot").status_code == 404
    assert other.post("/api/films/films/p1/Robot/moves/shoot").status_code == 404
    assert other.get("/api/films/films?pattern=by_status&status=draft").json()["items"] == []
    assert other.get("/api/films/films?pattern=of_project&project_id=p1").json()["items"] == []
    assert other.post("/api/films/films", json=film("Other")).json()["type"] == "out-of-scope"
    assert other.get("/api/films/reels/r").json()["type"] == "out-of-scope"
    assert service.store.get(Film.at(**key)).status == "draft"


def test_a_bound_administrator_sees_the_trail_and_the_keys_of_one_project(service: Service) -> None:
    service.client(Role.EDITOR).post("/api/films/films", json=film())
    bound = service.client(Role.ADMIN, project="p2")
    assert bound.get("/api/ops/audit_lines?pattern=of_project&project_id=p1").json()["items"] == []
    assert {k["project"] for k in bound.get("/api/ops/keys").json()["items"]} == {"p2"}
    free = service.client(Role.ADMIN)
    assert len(free.get("/api/ops/audit_lines?pattern=of_project&project_id=p1").json()["items"]) == 1


def test_a_cursor_of_one_project_does_not_open_in_another(service: Service) -> None:
    mine, other = service.client(Role.EDITOR, project="p1"), service.client(Role.VIEWER, project="p2")
    for title in "ab":
        mine.post("/api/films/films", json=film(title))
    asked: dict[str, Any] = {"pattern": "by_status", "status": "draft", "limit": 1}
    cursor = mine.get("/api/films/films", params=asked).json()["next"]
    assert other.get("/api/films/films", params={**asked, "cursor": cursor}).json()["type"] == "invalid-cursor"


def test_both_headers_carry_a_key(service: Service) -> None:
    key = service.key(Role.VIEWER)
    nobody = service.client()
    asked = "/api/films/films?pattern=by_status&status=draft"
    for headers in ({"Authorization": f"bearer {key}"}, {"X-API-Key": key}):
        assert nobody.get(asked, headers=headers).status_code == 200
    for headers in (
        {"Authorization": f"Basic {key}"},
        {"Authorization": key},
        {"X-API-Key": key[:-1]},
        {"X-API-Key": "é"},
    ):
        refused = nobody.get(asked, headers={n.encode(): v.encode() for n, v in headers.items()})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"


def test_a_revoked_key_ends_at_once(service: Service) -> None:
    viewer = service.client(Role.VIEWER)
    assert viewer.get("/api/films/films?pattern=by_status&status=draft").status_code == 200
    (key,) = list_keys(service.store)
    revoke_key(service.store, key.key_id, by="tests")
    assert viewer.get("/api/films/films?pattern=by_status&status=draft").status_code == 401


def test_a_key_is_revoked_through_the_api(service: Service, admin: Any) -> None:
    service.key(Role.VIEWER)
    listed = admin.get("/api/ops/keys").json()["items"]
    assert {"hash", "token"}.isdisjoint(listed[0])
    victim = next(k["key_id"] for k in listed if k["role"] == "viewer")
    assert admin.post("/api/ops/keys/revoke", params={"key_id": victim}).json()["revoked_at"] is not None
    assert admin.post("/api/ops/keys/revoke", params={"key_id": victim}).json()["type"] == "illegal-move"


def test_an_administrator_of_a_project_revokes_its_keys_and_no_others(service: Service) -> None:
    service.key(Role.VIEWER)
    for project in ("p1", "p2"):
        service.key(Role.VIEWER, project)
    bound = service.client(Role.ADMIN, project="p2")
    for key in [k for k in list_keys(service.store) if k.role is Role.VIEWER]:
        answer = bound.post("/api/ops/keys/revoke", params={"key_id": key.key_id})
        assert answer.status_code == (200 if key.project_id == "p2" else 404), key
    assert [k.project_id for k in list_keys(service.store) if k.revoked_at is not None] == ["p2"]


def test_only_the_hash_of_a_key_is_stored(service: Service) -> None:
    token = service.key(Role.VIEWER)
    (record,) = list_keys(service.store)
    assert record.hash == hashlib.sha256(token.encode()).hexdigest()
    assert token.split("_", 2)[2] not in record.model_dump_json()


# Refusals in the audit trail


def lines(service: Service, project: str = EVERYWHERE) -> list[tuple[str, str, str]]:
    found = service.store.find(SystemAudit.of_project(project_id=project))
    return [(x.actor, x.action, x.details["times"]) for x in found if x.action.startswith("refused")]


def test_every_refusal_is_audited_but_a_flood_writes_few_lines(service: Service) -> None:
    nobody = service.client()
    for _ in range(100):
        nobody.get("/api/films/films?pattern=by_status&status=draft")
    assert [(action, times) for _, action, times in lines(service)] == [("refused: unauthenticated", "1")]
    service.clock.advance(WINDOW)
    nobody.get("/api/films/films?pattern=by_status&status=draft")
    assert sorted(times for _, _, times in lines(service)) == ["1", "1", "99"], "and none is forgotten"


def test_many_strangers_share_a_line(service: Service) -> None:
    for number in range(MOST + 30):
        service.client(address=(f"198.51.100.{number}", 1)).get("/api/ops/keys")
    service.app.state.guard.refusals.flush()
    found = lines(service)
    assert len(found) == MOST + 2
    assert sum(int(times) for _, _, times in found) == MOST + 30
    assert "198.51" not in str(found), "where people come from is not kept"


def test_a_flood_of_strangers_does_not_hide_what_a_keys_holder_was_refused(service: Service) -> None:
    for number in range(MOST + 1):
        service.client(address=(f"198.51.100.{number}", 1)).get("/api/ops/keys")
    service.client(Role.VIEWER, project="p1").post("/api/films/films", json=film())
    ((actor, _, _),) = lines(service, "p1")
    assert actor.startswith("a viewer#")


def test_a_refusal_of_a_key_names_it_in_its_project(service: Service) -> None:
    service.client(Role.VIEWER, project="p1").post("/api/films/films", json=film())
    ((actor, action, _),) = lines(service, "p1")
    assert action == "refused: forbidden"
    assert actor.startswith("a viewer#")


def test_a_project_of_refusals_alone_is_sealed_like_any_other(service: Service) -> None:
    service.app.state.guard.refusals.note("ann", OutOfScope("not yours"), "/films", project="p1")
    assert list(projects(service.store)) == ["p1"]


def test_of_refusals_at_the_same_moment_none_is_forgotten(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    noted = Refusals(service.store, write=lambda refusal, times: told.append(times))

    def note(times: int) -> None:
        for _ in range(times):
            noted.note("ann", OutOfScope("not yours"), "/films")

    others, begin = Thread(target=note, args=(2,)), refusals._Count

    def interrupted(*arguments: Any) -> Any:
        monkeypatch.setattr(refusals, "_Count", begin)
        others.start()
        others.join(0.05)  # whoever does not wait has counted by then
        return begin(*arguments)

    monkeypatch.setattr(refusals, "_Count", interrupted)
    note(1)
    others.join()
    noted.flush()
    assert told == [1, 2]


# Without authentication


@pytest.fixture
def local(tmp_path: Path) -> Service:
    return Service(tmp_path, authentication=False)


def test_with_keys_turned_off_whoever_asks_on_this_machine_is_an_administrator(local: Service) -> None:
    assert local.client(address=HERE).get("/api/ops/keys").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Host": "localhost:8000.evil.example"},
        {"Host": "localhost@evil.example"},
        {"Host": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_a_page_of_another_site_cannot_use_a_service_without_authentication(
    local: Service, headers: dict[str, str]
) -> None:
    refused = local.client(address=HERE).post("/api/films/films", json=film(), headers=headers)
    assert refused.json()["type"] == "foreign-page"


@pytest.mark.parametrize(
    "headers",
    [{"Host": "localhost:8000"}, {"Host": "[::1]:8000"}, {"Host": "127.0.0.1:8000", "Origin": "http://127.0.0.1:8000"}],
)
def test_our_own_pages_can(local: Service, headers: dict[str, str]) -> None:
    assert local.client(address=HERE).post("/api/films/films", json=film(), headers=headers).status_code == 201


def test_metrics_are_for_administrators_also_on_this_machine(service: Service) -> None:
    assert service.client(address=HERE).get("/metrics").status_code == 401
    assert service.client(Role.EDITOR).get("/metrics").status_code == 403
    assert service.client(Role.ADMIN).get("/metrics").status_code == 200


def test_who_decides_is_the_key_not_the_body(service: Service) -> None:
    """`by` and `at` of a move are filled in, so nobody can sign for another."""
    editor = service.client(Role.EDITOR)
    editor.post("/api/films/films", json=film())
    editor.post("/api/films/films/p1/Robot/moves/shoot")
    forged = editor.post("/api/films/films/p1/Robot/moves/rate", json={"views": 3, "by": "the boss"})
    assert forged.status_code == 422
    rated = editor.post("/api/films/films/p1/Robot/moves/rate", json={"views": 3}).json()
    assert rated["rated_by"].startswith("a editor#")
    assert rated["rated_at"] == "2037-01-01T00:00:00Z"


def test_keys_are_no_entity_of_a_domain(service: Service) -> None:
    assert ApiKey.__shape__.domain == "penstock"
    assert not any("api_keys" in d.path for d in doors(service.app))


def test_an_administrator_lists_what_the_handlers_of_all_feeds_could_not_deal_with(service: Service) -> None:
    at = service.clock.now()
    for number, name in enumerate(("films", "guests", "films")):
        service.store.create(
            FeedLetter(
                name=name,
                ts=at + timedelta(seconds=number),
                handler="weigh",
                entity="films.Film",
                kind="insert",
                subject={"title": f"t{number}"},
                position=str(number),
                error="ValueError: too heavy",
                status=LetterStatus.SETTLED if number == 2 else LetterStatus.DEAD,
            )
        )
    url = "/api/ops/feed_letters"
    dead = service.client(Role.ADMIN).get(url, params={"pattern": "by_status", "status": "dead"}).json()["items"]
    assert [(letter["name"], letter["error"]) for letter in dead] == [
        ("films", "ValueError: too heavy"),
        ("guests", "ValueError: too heavy"),
    ]
    of_one = service.client(Role.ADMIN).get(url, params={"pattern": "of_feed", "name": "films"}).json()["items"]
    assert [letter["status"] for letter in of_one] == ["dead", "settled"]
    assert service.client(Role.EDITOR).get(url, params={"pattern": "by_status", "status": "dead"}).status_code == 403
