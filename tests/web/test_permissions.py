"""Who may do what with every record of the systems that ship, tried at every derived route by every role.

The requests are drawn from the declarations; what people may do at all is written down here once more, so that a rule
that is loosened is noticed, whether in a declaration or where it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest

from penstock import SYSTEM, Action, Domain, Entity, Move, Role, Table, WrittenBy, key
from penstock.declare.move import MoveOf
from penstock.declare.record_address import record_path
from penstock.declare.rights import creation_permission, move_permission
from penstock.domains import INSTALLED
from penstock.kernel.audit import SystemAudit
from penstock.plugin import DomainPlugin
from penstock.schema.kinds import Kind
from penstock.schema.permission import Permission, reason
from tests.web.films import INSTALLED as FILMS
from tests.web.films import FilmStatus
from tests.web.routes import described, doors
from tests.web.service import Service

PEOPLES = {
    "assetcreator.Outbox": {"revive": Role.ADMIN, "dismiss": Role.ADMIN},
    "novae.Reference": {"create": Role.EDITOR},
    "novae.NovaReference": {"create": Role.EDITOR},
}
"All that people create and move by derived routes; everything else is an action's, or the system's own."
ROLES: tuple[Role | None, ...] = (None, *Role)
PROJECT = "11111111-1111-4111-8111-111111111111"


SAMPLES = {
    Kind.IDENTIFIER: PROJECT,
    Kind.INTEGER: "1",
    Kind.INSTANT: "2037-01-01T00:00:00Z",
    Kind.DAY: "2037-01-01",
    Kind.TEXT: "x",
}


class Attempt(NamedTuple):
    """Something one may try at a derived route, and to whom the declaration leaves it."""

    label: str
    verb: str
    permission: Permission
    seen_by: Role | None
    path: str
    "Of the route."
    asked: str
    "A path that fits it."
    doing: str

    def __str__(self) -> str:
        return f"{self.label} {self.verb}"


def attempts() -> Iterator[Attempt]:
    """Each creation and each move of the systems that ship."""
    for each in INSTALLED:
        for entity in each.domain.entities:
            shape = entity.__shape__
            collection = f"/api/{each.domain.name}/{shape.collection}"
            creates = creation_permission(shape)
            doing = f"creates {shape.label}"
            yield Attempt(shape.label, "create", creates, shape.seen_by, collection, collection, doing)
            template = "/".join([collection, *(f"{{{n}}}" for n in shape.key.fields)])
            record = record_path(collection, {n: sample(entity, n) for n in shape.key.fields})
            for name, move in entity.__moves__.items():
                doing = f"makes the move {name} of {shape.label}"
                paths = f"{template}/moves/{name}", f"{record}/moves/{name}"
                yield Attempt(shape.label, name, move_permission(shape, move), shape.seen_by, *paths, doing)


def sample(entity: type[Entity], name: str) -> str:
    """A value that a part of a key may have, as it is written in a path."""
    field = entity.__shape__.fields[name]
    if field.kind is Kind.CHOICE:
        return str(next(iter(field.python)).value)
    return SAMPLES[field.kind]


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("systems"), installed=INSTALLED)


@pytest.fixture(scope="module")
def clients(systems: Service) -> dict[Role | None, Any]:
    return {role: systems.client(role) for role in ROLES}


def test_people_may_do_what_is_written_down_here_and_nothing_else() -> None:
    found: dict[str, dict[str, Role]] = {}
    for attempt in attempts():
        if isinstance(attempt.permission, Role):
            found.setdefault(attempt.label, {})[attempt.verb] = attempt.permission
    assert found == PEOPLES


def test_there_is_a_route_for_what_people_may_do_and_for_nothing_else(systems: Service) -> None:
    offered = {d.path: d.access.role for d in doors(systems.app) if d.method == "POST" and "/api/" in d.path}
    derived = {a.path: a.permission for a in attempts()}
    assert {p: r for p, r in offered.items() if p in derived} == {
        p: r for p, r in derived.items() if isinstance(r, Role)
    }
    document = described(systems.app)["paths"]
    assert {p for p in derived if "post" in document.get(p, {})} == {p for p in derived if p in offered}


@pytest.mark.parametrize("attempt", list(attempts()), ids=str)
def test_every_role_is_given_what_is_its_own_and_told_whose_the_rest_is(
    clients: dict[Role | None, Any], attempt: Attempt
) -> None:
    for role in ROLES:
        answer = clients[role].post(attempt.asked, json={})
        told = answer.json()
        if role is None:
            assert (answer.status_code, told["type"]) == (401, "unauthenticated")
        elif not isinstance(attempt.permission, Role):
            assert (answer.status_code, told["type"]) == (403, "not-permitted"), role
            assert told["detail"] == reason(attempt.permission, attempt.doing)
        elif not role.includes(attempt.permission):
            assert (answer.status_code, told["type"]) == (403, "forbidden"), role
            assert f"takes the role {attempt.permission.value}" in told["detail"]
        else:
            assert answer.status_code in (404, 409, 422), (role, answer.text)
            assert told["type"] != "no-such-route", role


def test_what_is_left_to_an_action_is_refused_with_the_way_to_it(clients: dict[Role | None, Any]) -> None:
    told = clients[Role.ADMIN].post("/api/speech/jobs", json={}).json()["detail"]
    assert told == "only the action speak later of the domain creates speech.SpeechJob; ask by POST /public/tts/jobs"


def test_every_route_that_an_action_names_is_there(systems: Service) -> None:
    there = {f"{d.method} {d.path}" for d in doors(systems.app)}
    named = {r for a in attempts() if isinstance(a.permission, Action) for r in a.permission.routes}
    assert named
    assert named <= there


def test_a_refusal_is_audited(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=INSTALLED)
    service.client(Role.EDITOR, project="p1").post("/api/assetcreator/jobs", json={})
    *_, line = service.store.find(SystemAudit.of_project(project_id="p1"))
    assert (line.action, line.details["route"]) == ("refused: not-permitted", "/api/assetcreator/jobs")


def test_an_unknown_move_is_answered_with_those_there_are(tmp_path: Path) -> None:
    service = Service(tmp_path)
    told = service.client(Role.EDITOR).post("/api/films/films/p1/Robot/moves/burn").json()
    assert (told["type"], told["detail"]) == (
        "no-such-route",
        "films.Film has no such move; there are shoot, redo, rate",
    )


def test_a_rule_that_is_kept_nowhere_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the test: a service that gives everybody every move is found out by the requests above."""

    def everybody(shape: Any, move: MoveOf[Any, ...]) -> Permission:
        return Role.VIEWER if shape.domain in shipped else move_permission(shape, move)

    shipped = {each.domain.name for each in INSTALLED}
    monkeypatch.setattr("penstock.web.records.move_permission", everybody)
    loose = Service(tmp_path, installed=INSTALLED)
    clients = {role: loose.client(role) for role in ROLES}
    closed = [a for a in attempts() if a.verb != "create" and not isinstance(a.permission, Role)]
    assert len(closed) > 30
    for attempt in closed:
        with pytest.raises(AssertionError):
            test_every_role_is_given_what_is_its_own_and_told_whose_the_rest_is(clients, attempt)
    with pytest.raises(AssertionError):
        test_there_is_a_route_for_what_people_may_do_and_for_nothing_else(loose)


# A domain of one's own


class Errand(Entity, table=Table("WebErrands", partition="PK"), created_by=Role.VIEWER):
    """Anybody with a key sends one; only the system is done with it."""

    name: str
    note: Annotated[str, WrittenBy(Role.ADMIN)] = ""
    answer: Annotated[str | None, WrittenBy(SYSTEM)] = None
    status: FilmStatus = FilmStatus.DRAFT

    @key("{name}")
    def at(self, *, name: str) -> None: ...

    done = Move(FilmStatus.DRAFT, to=FilmStatus.FILMED, by=SYSTEM)
    check = Move(FilmStatus.FILMED, to=FilmStatus.RATED)


def test_a_strangers_domain_is_served_by_the_same_rules(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(DomainPlugin(Domain("errands", Errand)),))
    viewer = service.client(Role.VIEWER)
    assert viewer.post("/api/errands/errands", json={"name": "a"}).status_code == 201
    refused = viewer.post("/api/errands/errands", json={"name": "b", "note": "x"})
    assert refused.json()["detail"] == "only the role admin writes errands.Errand.note"
    for field, value in {"answer": "x", "status": "filmed"}.items():
        refused = service.client(Role.ADMIN).post("/api/errands/errands", json={"name": "b", field: value})
        assert refused.status_code in (403, 422)
        assert field in refused.json()["detail"]
        assert "only" in refused.json()["detail"]
    given = service.client(Role.ADMIN).post("/api/errands/errands", json={"name": "b", "note": "x"})
    assert (given.status_code, given.json()["note"]) == (201, "x")
    for move in ("done", "check"):
        told = service.client(Role.ADMIN).post(f"/api/errands/errands/a/moves/{move}").json()
        assert told["detail"] == f"only the system makes the move {move} of errands.Errand"


def test_the_films_of_these_tests_are_editors(tmp_path: Path) -> None:
    """A domain that says nothing, and that no work moves, is people's to write."""
    film = FILMS.domain.entities[0]
    assert creation_permission(film.__shape__) is Role.EDITOR
    assert {move_permission(film.__shape__, m) for m in film.__moves__.values()} == {Role.EDITOR}
