"""ingest_new_nova and refresh_references: papers are upserted and linked, and the earliest of them dates the nova."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import the
from penstock.astronomy.judgement import Finding
from penstock.domains.novae import refreshing
from penstock.domains.novae.model import DoubtfulItem, JobRun, Nova, NovaReference, Reference
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.providers.provider import BadPaper, Paper
from penstock.errors import Conflict
from penstock.work import Terminal
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.story import Astronomer, later, new_nova, work_through


@pytest.fixture
def nova_id(anywhere: NovaCatalogue) -> UUID:
    return new_nova(anywhere.store, uuid4(), "V1324 Sco").nova_id


def paper(bibcode: str, date: str | None = None, **more: Any) -> Paper:
    return Paper(bibcode, title=f"About {bibcode}", date=date, source="known", **more)


def refreshed(ann: Astronomer, nova_id: UUID) -> dict[str, Any]:
    """The papers looked for anew, an hour later."""
    later(ann.catalogue, hours=1)
    begun = ann.post(f"/novae/{nova_id}/references/refresh")
    work_through(ann.catalogue)
    return ann.run(begun["job_run_id"])


def test_a_nova_is_ingested_by_runs_of_their_own(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-11, NC-12, NC-13: one that fails does not fail it; nothing else of the nova is overwritten."""

    def fails() -> None:
        # Meanwhile somebody else writes to the nova.
        anywhere.store.patch(Nova.at(nova_id=nova_id), the(Nova.position_source).set("somebody"))
        raise Terminal("no")

    sky.papers.fails = fails
    before = anywhere.store.get(Nova.at(nova_id=nova_id))
    ann = Astronomer(anywhere)
    begun = ann.post(f"/novae/{nova_id}/ingest")
    work_through(anywhere)
    run = ann.run(begun["job_run_id"])
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "LAUNCHED")
    children = [ann.run(job_run_id) for job_run_id in run["results"]["launched"]]
    assert children[0]["workflow_name"] == "refresh_references"
    assert (children[0]["status"], children[0]["parent_run_id"]) == ("FAILED", run["job_run_id"])
    after = anywhere.store.get(Nova.at(nova_id=nova_id))
    assert after.last_ingest_at is not None
    kept = {"preferred_name", "aliases", "status", "version_counter", "created_at", "discovery_date"}
    assert after.model_dump(include=kept) == before.model_dump(include=kept)
    assert after.position_source == "somebody"
    ann.post(f"/novae/{uuid4()}/ingest", status=404)


def test_papers_are_upserted_and_linked_once(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-14, NC-15, NC-36: found again they are renewed; a link stays as it was."""
    sky.papers.held = [paper(f"2012ATel.{n:04d}....1W", "2012-06-01") for n in range(23)]
    ann, store = Astronomer(anywhere), anywhere.store
    run = refreshed(ann, nova_id)
    assert (run["outcome"], run["results"]["written"], run["results"]["aside"]) == ("REFRESHED", 23, 0)
    links = list(store.find(NovaReference.of_nova(nova_id=nova_id)))
    sky.papers.held = [paper("2012ATel.0000....1W", "2012-06-02", authors=("Wagner, R.",))]
    refreshed(ann, nova_id)
    assert list(store.find(NovaReference.of_nova(nova_id=nova_id))) == links
    renewed = store.get(Reference.at(nova_id=nova_id, reference_id="2012ATel.0000....1W"))
    assert (renewed.date, renewed.details) == ("2012-06-02", {"authors": ["Wagner, R."], "source": "known"})
    assert renewed.created_at < renewed.updated_at
    assert len(ann.get(f"/novae/{nova_id}/references", limit=200)["items"]) == 23


def test_a_bad_paper_is_put_aside_and_the_others_are_written(
    anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID
) -> None:
    """NC-14: with its reason, as it came."""
    sky.papers.held = [
        paper("good-1", "2012-06-01"),
        BadPaper(Finding("NO_BIBCODE", "an entry has no bibcode")),
        paper("bad-date", "June 2012"),
        paper("x" * 300),
        paper("good-2"),
    ]
    ann = Astronomer(anywhere)
    run = refreshed(ann, nova_id)
    assert (run["status"], run["results"]["written"], run["results"]["aside"]) == ("SUCCEEDED", 2, 3)
    aside = ann.get(f"/novae/{nova_id}/doubtful-items")["items"]
    assert sorted(item["reason_code"] for item in aside) == ["BAD_REFERENCE", "BAD_REFERENCE", "NO_BIBCODE"]
    assert any("June 2012" in str(item["item"]) for item in aside)
    refreshed(ann, nova_id)
    assert len(list(anywhere.store.find(DoubtfulItem.of_nova(nova_id=nova_id)))) == 3, "found again, it is the same"


def test_the_discovery_only_moves_earlier(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-16, F-NC-9: to the earliest date of the papers; a month alone is before its days."""
    ann = Astronomer(anywhere)

    def discovered(*papers: Paper) -> str | None:
        sky.papers.held = list(papers)
        assert refreshed(ann, nova_id)["outcome"] == "REFRESHED"
        date: str | None = ann.get(f"/novae/{nova_id}")["discovery_date"]
        return date

    assert discovered(paper("undated"), paper("nothing", "0000-00-00")) is None
    assert discovered(paper("a", "2012-07-01"), paper("b", "2012-06-14")) == "2012-06-14"
    assert discovered(paper("c", "2012-06-15")) == "2012-06-14"
    assert discovered(paper("d", "2012-06-00")) == "2012-06-00"
    assert discovered(paper("d", "2013-01-00")) == "2012-06-00", "not later, though the paper is"
    assert discovered(paper("e", "2012-05-31")) == "2012-05-31"


def test_an_earlier_date_that_comes_meanwhile_stays(anywhere: NovaCatalogue, nova_id: UUID) -> None:
    """NC-16, F-NC-9: two who read the same move it to the earlier of theirs, in whichever order they write."""
    store, ref = anywhere.store, Nova.at(nova_id=nova_id)
    for date in ("2012-06-10", "2012-06-01"):
        with store.change() as change:
            refreshing.move_discovery(change, nova_id, date)
    with pytest.raises(Conflict), store.change() as change:
        refreshing.move_discovery(change, nova_id, "2012-06-05")
    assert store.get(ref).discovery_date == "2012-06-01"


def test_a_paper_that_is_about_another_time_does_not_count(
    anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID
) -> None:
    """NC-16: somebody has said so."""
    ann = Astronomer(anywhere)
    sky.papers.held = [paper("a", "2012-07-01")]
    refreshed(ann, nova_id)
    now = anywhere.store.clock.now()
    about = {"nova_id": nova_id, "reference_id": "plates", "created_at": now, "updated_at": now}
    anywhere.store.put(Reference(**about, date="1890-01-00", details={"relevant": False}))  # type: ignore[arg-type]
    refreshed(ann, nova_id)
    assert ann.get(f"/novae/{nova_id}")["discovery_date"] == "2012-07-01"


def test_a_workflow_is_about_one_nova(anywhere: NovaCatalogue, sky: KnownSky, nova_id: UUID) -> None:
    """NC-38: whatever runs for one, of another nothing is written; what is found by name or place is looked up only."""
    other = new_nova(anywhere.store, uuid4(), "V407 Cyg").nova_id
    sky.papers.held = [paper("a", "2012-07-01")]
    sky.names.objects = [nova_object("V407 Cyg", "Nova Cyg 1936", at=(315.54, 45.77))]

    def rows() -> list[Any]:
        store = anywhere.store
        found = [*store.find(Reference.of_nova(nova_id=other)), *store.find(JobRun.of_nova(nova_id=other))]
        return [store.get(Nova.at(nova_id=other)), *found]

    before = rows()
    ann = Astronomer(anywhere)
    for path in ("ingest", "references/refresh", "names/check"):
        later(anywhere, hours=1)
        ann.post(f"/novae/{nova_id}/{path}")
        work_through(anywhere)
    assert len(ann.runs(nova_id)) >= 3
    assert rows() == before
    assert {run["nova_id"] for run in ann.runs(nova_id)} == {str(nova_id)}
