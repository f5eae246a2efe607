"""Bundles: lines that read back as the records they were, also when the declaration has grown since."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock import Domain, Entity, Table, key
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import Job, JobPlace
from penstock.domains.videos.model import DOMAIN as VIDEOS
from penstock.errors import NotFound
from penstock.lifecycle.archived_file import DamagedArchive
from penstock.lifecycle.bundle import bundles, find_record, keep, line_of, manifest_of, record_of, restore
from penstock.lifecycle.folder_archive import FolderArchive

MOMENT = datetime(2037, 1, 29, 8, 0, tzinfo=UTC)
ENTITIES = {e.__shape__.label: e for d in DOMAINS for e in d.entities}


class Take(Entity, table=Table("takes", partition="PK")):
    name: str
    text: str

    @key("TAKE#{name}")
    def at(self, *, name: str) -> None: ...


class Cut(Entity, table=Table("cuts", partition="PK")):
    name: str
    text: str

    @key("CUT#{name}")
    def at(self, *, name: str) -> None: ...


Domain("cutting", Take, Cut)


def job(job_id: str = "j1") -> Job:
    return Job.model_validate(
        {
            "project_id": "p",
            "job_id": job_id,
            "asset_type": "PROP",
            "current_step": "rig",
            "created_at": MOMENT,
            "updated_at": MOMENT,
        }
    )


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path)


def test_a_line_has_the_names_and_forms_of_the_documents() -> None:
    assert json.loads(line_of(job())) == {
        "entity": "assetcreator.Job",
        "key": {"project_id": "p", "job_id": "j1"},
        "record": {
            "project_id": "p",
            "job_id": "j1",
            "asset_type": "PROP",
            "status": "pending",
            "current_step": "rig",
            "created_at": "2037-01-29T08:00:00Z",
            "updated_at": "2037-01-29T08:00:00Z",
        },
    }


def test_a_field_that_was_added_since_gets_its_default() -> None:
    told = json.loads(line_of(job()))
    del told["record"]["status"]
    assert record_of(json.dumps(told).encode(), ENTITIES) == job()
    del told["record"]["current_step"]
    with pytest.raises(DamagedArchive, match="does not fit"):
        record_of(json.dumps(told).encode(), ENTITIES)


def test_a_field_that_was_removed_since_is_not_dropped_silently() -> None:
    told = json.loads(line_of(job()))
    told["record"]["colour"] = "red"
    with pytest.raises(DamagedArchive, match="has colour, which its declaration no longer has"):
        record_of(json.dumps(told).encode(), ENTITIES)


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"entity":"assetcreator.Job","record":7}', b"\xff"])
def test_a_line_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(DamagedArchive):
        record_of(line, ENTITIES)


def test_a_bundle_is_the_same_bytes_whenever_it_is_written(archive: FolderArchive, tmp_path: Path) -> None:
    records = [job("a"), JobPlace(job_id="a", project_id="p"), job("b")]
    bundle = keep(archive, records)
    other = FolderArchive(tmp_path / "other")
    assert keep(other, records) == bundle
    assert other.get(bundle.name) == archive.get(bundle.name)
    lines = gzip.decompress(archive.get(bundle.name))
    assert bundle.name == f"assetcreator/Job/{hashlib.sha256(lines).hexdigest()}.jsonl.gz"
    assert json.loads(archive.get(manifest_of(bundle.name))) == {
        "format": "penstock-bundle/1",
        "records": 3,
        "bytes": len(lines),
        "sha256": bundle.sha256,
        "entities": {"assetcreator.Job": 2, "assetcreator.JobPlace": 1},
    }
    assert keep(archive, records) == bundle, "writing it again finds it written"
    assert len(list(archive.list("assetcreator/"))) == 2
    assert list(restore(archive, bundle.name, DOMAINS)) == records


def test_nothing_is_handed_out_of_a_bundle_that_is_not_whole(archive: FolderArchive) -> None:
    bundle = keep(archive, [job("a"), job("b")])
    path = archive.folder / bundle.name
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"b"', b'"c"')))
    with pytest.raises(DamagedArchive, match="as it was written"):
        next(restore(archive, bundle.name, DOMAINS))
    (archive.folder / manifest_of(bundle.name)).unlink()
    with pytest.raises(NotFound):
        next(restore(archive, bundle.name, DOMAINS))
    assert list(bundles(archive)) == []


def test_a_bundle_of_a_later_form_is_not_read_as_one_of_ours(archive: FolderArchive) -> None:
    bundle = keep(archive, [job("a")])
    assert list(bundles(archive)) == [bundle.name]
    path = archive.folder / manifest_of(bundle.name)
    path.write_text(path.read_text().replace("penstock-bundle/1", "penstock-bundle/9"))
    with pytest.raises(DamagedArchive, match=r"is a penstock-bundle/9; this version reads penstock-bundle/1 and"):
        next(restore(archive, bundle.name, DOMAINS))


def test_a_record_is_found_by_its_key_among_those_of_other_entities(archive: FolderArchive) -> None:
    """Records of two entities may have the same key."""
    take, cut = Take(name="a", text="of a take"), Cut(name="a", text="of a cut")
    bundle = keep(archive, [take, Take(name="b", text="another"), cut])
    assert find_record(archive, bundle.name, take.ref, Take) == (take, [])
    assert find_record(archive, bundle.name, cut.ref, Cut) == (cut, [])
    with pytest.raises(NotFound, match="has no "):
        find_record(archive, bundle.name, Cut.at(name="b"), Cut)


def test_a_bundle_of_an_unknown_entity_is_answered(archive: FolderArchive) -> None:
    bundle = keep(archive, [job("a")])
    with pytest.raises(DamagedArchive, match=r"'assetcreator\.Job', which no domain here declares"):
        list(restore(archive, bundle.name, [VIDEOS]))


def test_copies_are_not_written_for_ever(archive: FolderArchive, tmp_path: Path) -> None:
    name = keep(FolderArchive(tmp_path / "other"), [job()]).name
    for copy in ("", *(f".{n}" for n in range(2, 10))):
        archive.put(name.replace(".jsonl", f"{copy}.jsonl"), b"damaged")
    with pytest.raises(DamagedArchive, match="all 9 copies"):
        keep(archive, [job()])
