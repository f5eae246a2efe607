"""The files of a record: for whoever may see it, and nothing that could run."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from starlette.testclient import TestClient

from penstock import Domain, Entity, FrozenClock, Role, Store, Table, key
from penstock.declare import OpenedBy
from penstock.domains import INSTALLED
from penstock.errors import DeclarationError
from penstock.files.record_previews import MOST_FILES, MOST_IN_FOLDER
from penstock.plugin import DomainPlugin
from penstock.schema.object_key import ObjectFolder, ObjectKey
from tests.web.routes import described
from tests.web.service import URL, Service

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
HTML = b"<!doctype html><html><script>alert(1)</script></html>"
TABLE = Table("FiledThings", partition="PK", sort="SK")


class Poster(Entity, table=TABLE, relation="posters"):
    project_id: str
    name: str
    picture: ObjectKey | None = None
    drafts: list[ObjectKey] | None = None
    contract: Annotated[ObjectKey | None, OpenedBy(Role.ADMIN)] = None
    parts: ObjectFolder | None = None

    @key("P#{project_id}", "POSTER#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...


class Secret(Entity, table=Table("FiledSecrets", partition="PK", sort="SK"), relation="secrets", seen_by=Role.ADMIN):
    project_id: str
    name: str
    picture: ObjectKey | None = None

    @key("P#{project_id}", "SECRET#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...


FILES = ("posters/{project_id}/**",)
POSTERS = DomainPlugin(Domain("posters", Poster, Secret, files=FILES))
PATH = "/api/posters/posters/p1/robot"


@pytest.fixture
def service(anywhere: Store, clock: FrozenClock, tmp_path: Path) -> Service:
    return Service(tmp_path, installed=(POSTERS,), store=anywhere, clock=clock)


def poster(service: Service, **files: Any) -> None:
    service.store.put(Poster(project_id="p1", name="robot", **files))


def got(client: TestClient, url: str) -> Any:
    assert url.startswith(URL)
    return client.get(url.removeprefix(URL))


def test_a_picture_is_shown_in_place_by_whoever_sees_the_record(service: Service) -> None:
    service.objects.put("posters/p1/a.png", PNG)
    poster(service, picture="posters/p1/a.png", drafts=["posters/p1/a.png", "posters/p1/gone.png"])
    answer = service.client(Role.VIEWER).get(f"{PATH}/files")
    assert answer.headers["cache-control"] == "private, no-store"
    (file,) = answer.json()["items"]
    told = {n: file[n] for n in ("field", "key", "size", "content_type", "inline")}
    assert told == {
        "field": "picture",
        "key": "posters/p1/a.png",
        "size": len(PNG),
        "content_type": "image/png",
        "inline": True,
    }
    shown = got(service.client(), file["url"])
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert shown.headers["content-disposition"].startswith("inline")
    service.clock.advance(timedelta(minutes=16))
    assert got(service.client(), file["url"]).status_code == 403, "it opens for a while"


@pytest.mark.parametrize("body", [SVG, HTML, b"%PDF-1.7 ...", b"plain words"])
def test_what_could_run_is_saved_and_never_shown(service: Service, body: bytes) -> None:
    service.objects.put("posters/p1/a.png", body)
    poster(service, picture="posters/p1/a.png")
    (file,) = service.client(Role.ADMIN).get(f"{PATH}/files").json()["items"]
    assert not file["inline"]
    saved = got(service.client(), file["url"])
    assert saved.headers["content-disposition"].startswith("attachment")
    assert saved.headers["content-type"].split(";")[0] in ("application/octet-stream", "text/plain")


def test_a_files_url_is_for_whom_the_record_is(service: Service) -> None:
    service.objects.put("posters/p1/a.png", PNG)
    poster(service, picture="posters/p1/a.png")
    service.store.put(Secret(project_id="p1", name="x", picture="posters/p1/a.png"))
    secret = "/api/posters/secrets/p1/x/files"
    expected = {
        (Role.VIEWER, None): (200, 403),
        (Role.EDITOR, None): (200, 403),
        (Role.ADMIN, None): (200, 200),
        (Role.VIEWER, "p1"): (200, 403),
        (Role.ADMIN, "p2"): (404, 404),
    }
    for (role, project), statuses in expected.items():
        client = service.client(role, project=project)
        assert (client.get(f"{PATH}/files").status_code, client.get(secret).status_code) == statuses, (role, project)
    assert service.client().get(f"{PATH}/files").status_code == 401
    narrowed = service.client(Role.ADMIN).get(f"{PATH}/files", headers={"X-Project": "p2"})
    assert narrowed.status_code == 404


def test_a_field_may_leave_its_files_to_a_higher_role(service: Service) -> None:
    service.objects.put("posters/p1/contract.png", PNG)
    poster(service, contract="posters/p1/contract.png")
    viewer, admin = (service.client(role).get(f"{PATH}/files").json() for role in (Role.VIEWER, Role.ADMIN))
    assert (viewer["items"], viewer["withheld"]) == ([], ["contract"])
    assert ([f["field"] for f in admin["items"]], admin["withheld"]) == (["contract"], [])


def test_a_mark_on_a_field_without_files_is_refused() -> None:
    with pytest.raises(DeclarationError, match="points at no file"):

        class Wrong(Entity, table=Table("FiledWrong", partition="PK")):
            name: Annotated[str, OpenedBy(Role.ADMIN)]

            @key("{name}")
            def at(self, *, name: str) -> None: ...


def test_a_record_with_many_files_tells_some_and_that_there_are_more(service: Service) -> None:
    keys = [f"posters/p1/{n:03d}.png" for n in range(MOST_FILES + 1)]
    for each in keys:
        service.objects.put(each, PNG)
    for number in range(MOST_IN_FOLDER + 5):
        service.objects.put(f"posters/p1/parts/{number:04d}.bin", b"x")
    poster(service, drafts=keys)
    whole = service.client(Role.VIEWER).get(f"{PATH}/files").json()
    assert (len(whole["items"]), whole["more"]) == (MOST_FILES, True)
    poster(service, drafts=keys[:-1])
    assert not service.client(Role.VIEWER).get(f"{PATH}/files").json()["more"]
    poster(service, parts="posters/p1/parts/")
    inside = service.client(Role.VIEWER).get(f"{PATH}/files").json()
    assert (len(inside["items"]), inside["more"]) == (MOST_IN_FOLDER, True)
    assert not any(file["inline"] for file in inside["items"])


def test_every_system_signs_files_for_the_entities_that_hold_them(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=INSTALLED)
    served = {p for p in described(service.app)["paths"] if p.startswith("/api/") and p.endswith("/files")}
    for plugin in INSTALLED:
        for shape in plugin.domain.shapes:
            path = "/".join(
                [f"/api/{plugin.domain.name}/{shape.collection}", *(f"{{{n}}}" for n in shape.key.fields), "files"]
            )
            assert (path in served) is bool(shape.pointing), shape.label
