"""Unique, computed and counted fields at the derived routes: shown, never given, refused with their own reason."""

from __future__ import annotations

from pathlib import Path

from penstock import ANYTHING, Domain, Entity, IndexKey, Range, Table, Unique, computed, key, pattern
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from tests.web.service import Service

TABLE = Table("WebAuthors", partition="PK", sort="SK")
BY_NAME = TABLE.index("by-name", partition="GSI1PK", sort="GSI1SK")


class Author(Entity, table=TABLE, relation="authors", version="revision"):
    """Whoever writes."""

    author_id: str
    height: int = 0
    name: Unique[str]
    folded: str = computed(str.casefold, of="name")
    revision: int = 1

    @key("AUTHOR#{author_id}", "AUTHOR#{height:+04d}")
    def at(self, *, author_id: str, height: int) -> None: ...

    named = IndexKey(BY_NAME, "AUTHORS", "{folded}")

    @pattern(named)
    def by_name(self, *, folded: Range[str] = ANYTHING) -> None:
        """Authors, by their names."""


INSTALLED = DomainPlugin(Domain("writing", Author))


def test_what_is_declared_is_what_the_routes_do(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(INSTALLED,))
    client = service.client(Role.ADMIN)
    made = client.post("/api/writing/authors", json={"author_id": "a", "height": -7, "name": "ANN"})
    assert made.status_code == 201, made.text
    shown = {"author_id": "a", "height": -7, "name": "ANN", "folded": "ann", "revision": 1}
    assert made.json() == client.get(made.headers["Location"]).json() == shown
    assert "/-7" in made.headers["Location"]

    again = client.post("/api/writing/authors", json={"author_id": "b", "name": "ANN"})
    assert (again.status_code, again.json()["type"]) == (409, "not-unique")
    assert "ANN" not in again.json()["detail"]

    for field, value in (("folded", "x"), ("revision", 7)):
        refused = client.post("/api/writing/authors", json={"author_id": "c", "name": "C", field: value})
        assert refused.status_code == 422
        assert field in refused.text

    listed = client.get("/api/writing/authors", params={"pattern": "by_name"})
    assert [each["name"] for each in listed.json()["items"]] == ["ANN"]
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    fields = [s["properties"]["folded"] for s in schemas.values() if "folded" in s.get("properties", {})]
    assert fields
    assert all(each.get("readOnly") for each in fields)
