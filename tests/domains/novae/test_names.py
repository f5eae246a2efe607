"""Names: added, shared, removed, and compared with what the authorities say."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.kernel.audit import SystemAudit
from penstock.work import Terminal
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.story import Astronomer, aliases_of, later, new_nova, owner, work_through


@pytest.fixture
def nova_id(anywhere: NovaCatalogue) -> UUID:
    return new_nova(anywhere.store, uuid4(), "V1324 Sco").nova_id


def checked(ann: Astronomer, nova_id: UUID) -> dict[str, Any]:
    later(ann.catalogue, hours=1)
    begun = ann.post(f"/novae/{nova_id}/names/check")
    work_through(ann.catalogue)
    return ann.run(begun["job_run_id"])


def test_a_nova_goes_by_many_names_and_a_name_is_one_novas(anywhere: NovaCatalogue, nova_id: UUID) -> None:
    """NC-9, NC-10, F-NC-2: another's is refused, also when it is written otherwise; freed, it is anybody's."""
    other = new_nova(anywhere.store, uuid4(), "V407 Cyg").nova_id
    ann = Astronomer(anywhere)
    told = ann.post(f"/novae/{nova_id}/aliases", {"name": "Nova  Sco_2012"}, 201)
    assert told["names"] == ["V1324 Sco", "Nova Sco 2012"]
    refused = ann.post(f"/novae/{other}/aliases", {"name": "nova sco 2012"}, 409)
    assert (refused["type"].rpartition("/")[2], str(nova_id) in refused["detail"]) == ("name-taken", True)
    assert owner(anywhere.store, "nova sco 2012") == nova_id
    assert ann.get(f"/novae/{other}/aliases")["names"] == ["V407 Cyg"]
    assert ann.delete(f"/novae/{nova_id}/aliases", name="NOVA SCO 2012")["names"] == ["V1324 Sco"]
    assert ann.get("/novae/by-name", name="nova sco 2012")["items"] == []
    ann.post(f"/novae/{other}/aliases", {"name": "Nova Sco 2012"}, 201)
    assert owner(anywhere.store, "nova sco 2012") == other
    ann.delete(f"/novae/{nova_id}/aliases", 422, name="V1324 Sco")
    ann.delete(f"/novae/{nova_id}/aliases", 404, name="Nova Sco 2012")


def test_a_name_of_two_novae_is_what_somebody_has_said(anywhere: NovaCatalogue, nova_id: UUID) -> None:
    """NC-7, NC-10: with their name in the audit trail; whose it was, it stays."""
    other = new_nova(anywhere.store, uuid4(), "V407 Cyg").nova_id
    ann = Astronomer(anywhere)
    ann.post(f"/novae/{other}/aliases", {"name": "V1324 Sco", "shared": True, "why": "a slip of 1936"}, 201)
    assert owner(anywhere.store, "v1324 sco") == nova_id
    assert sorted(aliases_of(anywhere.store, "v1324 sco")) == sorted([nova_id, other])
    first = ann.get("/novae/by-name", name="V1324 Sco", limit=1)
    second = ann.get("/novae/by-name", name="V1324 Sco", limit=1, cursor=first["next"])
    found = [nova["nova_id"] for page in (first, second) for nova in page["items"]]
    assert sorted(found) == sorted(map(str, (nova_id, other)))
    lines = anywhere.store.find(SystemAudit.of_project(project_id="-"))
    (line,) = [line for line in lines if line.details.get("why") == "a slip of 1936"]
    assert line.actor.startswith("editor")


def test_what_the_authorities_say_is_taken_over(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-9, NC-10: further names, and the one that they prefer; asked again nothing changes."""
    ann = Astronomer(anywhere)
    assert checked(ann, nova_id)["outcome"] == "NO_CHANGE"
    sky.names.objects = [nova_object("V* V1324 Sco", "V1324 Sco", "Nova Sco 2012")]
    sky.other_names.objects = [nova_object("V1324 Sco", "PNV J17505390-3237215")]
    run = checked(ann, nova_id)
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "UPDATED")
    assert ann.get(f"/novae/{nova_id}/aliases")["names"] == [
        "V* V1324 Sco",
        "V1324 Sco",
        "Nova Sco 2012",
        "PNV J17505390-3237215",
    ]
    assert {owner(anywhere.store, name) for name in ("v* v1324 sco", "nova sco 2012", "v1324 sco")} == {nova_id}
    assert checked(ann, nova_id)["outcome"] == "NO_CHANGE"
    assert [a["task"] for a in ann.attempts(run["job_run_id"])] == ["ask", "ask.0", "ask.1", "ask.join", "reconcile"]


def test_one_authority_that_fails_keeps_no_other_from_being_heard(
    anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID
) -> None:
    def fails(name: str) -> None:
        raise Terminal("no")

    sky.names.fails = fails
    sky.other_names.objects = [nova_object("V1324 Sco", "Nova Sco 2012")]
    ann = Astronomer(anywhere)
    assert checked(ann, nova_id)["outcome"] == "UPDATED"
    sky.other_names.fails = fails
    assert checked(ann, nova_id)["status"] == "FAILED"


def test_a_name_that_is_another_novas_waits_for_a_person(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-7, NC-10: who accepts what the authorities say, as far as the names are free, or leaves it."""
    other = new_nova(anywhere.store, uuid4(), "Nova Sco 2012").nova_id
    sky.names.objects = [nova_object("V1324 Sco", "Nova Sco 2012", "PNV J1750")]
    ann = Astronomer(anywhere)
    run = checked(ann, nova_id)
    assert (run["status"], run["outcome"]) == ("QUARANTINED", "NAME_COLLISION")
    (doubt,) = ann.get("/doubts")["items"]
    assert set(doubt["candidates"]) == {str(nova_id), str(other)}
    ann.post(f"/doubts/{run['job_run_id']}/decision", {"verdict": "new"}, 422)
    decided = ann.post(f"/doubts/{run['job_run_id']}/decision", {"verdict": "accept"}, 200)
    work_through(anywhere)
    assert ann.run(decided["continued_by"])["outcome"] == "UPDATED"
    assert ann.get(f"/novae/{nova_id}/aliases")["names"] == ["V1324 Sco", "PNV J1750"]
    assert owner(anywhere.store, "nova sco 2012") == other
