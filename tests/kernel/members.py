"""A record with a unique value and a version, for whoever tries what becomes of them."""

from __future__ import annotations

from penstock import Domain, Entity, Table, Unique, key


class Member(Entity, table=Table("penstock-test-members", partition="PK", sort="SK"), version="revision"):
    member_id: str
    email: Unique[str]
    note: str = ""
    revision: int = 1

    @key("MEMBER#{member_id}", "MEMBER")
    def at(self, *, member_id: str) -> None: ...


MEMBERS = Domain("members", Member)
