"""An export has every record and every file, and goes on where it was ended."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import Store
from penstock.errors import Conflict
from penstock.objects.local import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.transfer.export import Export
from penstock.transfer.export_manifest import DamagedExport, Manifest
from penstock.transfer.imported_export import ImportedExport
from penstock.transfer.transfer_selection import Selection, select
from penstock.work.working import WORKING
from tests.transfer.films import DOMAIN, Reel, Shelf


def exported(store: Store, folder: Path, selection: Selection, **said: Any) -> Manifest:
    return Export(store, folder, selection, **said).run()


def content(folder: Path) -> list[str]:
    """All lines, in one order."""
    return sorted(
        line
        for path in folder.glob("records/*/*.jsonl.gz")
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
    )


@pytest.mark.parametrize("encoding", ["jsonl", "parquet"])
def test_what_is_exported_and_imported_is_exported_the_same_again(
    full: Store,
    opened: Callable[[str], Store],
    selection: Selection,
    files: LocalObjects,
    tmp_path: Path,
    encoding: str,
) -> None:
    beside, arrived = LocalObjects(tmp_path / "one" / "files"), LocalObjects(tmp_path / "other-files")
    first = exported(full, tmp_path / "one", selection, files=(files, beside), encoding=encoding, part=10)
    assert first.entities["reels.Reel"].parts[0].records == 10
    assert sum(part.records for part in first.entities["reels.Reel"].parts) == 25
    assert sum(part.records for part in first.entities["reels.Shelf"].parts) == 7, "one has ended"
    assert first.objects == 25
    other = opened("other")
    ImportedExport(tmp_path / "one", selection.entities, files=(beside, arrived)).run(other)
    again = exported(other, tmp_path / "two", selection, files=(arrived, LocalObjects(tmp_path / "two" / "files")))
    exported(full, tmp_path / "three", selection)
    assert content(tmp_path / "two") == content(tmp_path / "three")
    assert again.objects_sha256 == first.objects_sha256
    assert other.get(Reel.at(project_id="p3", number=2)) == full.get(Reel.at(project_id="p3", number=2))


def test_an_export_that_was_ended_goes_on(
    full: Store, selection: Selection, files: LocalObjects, tmp_path: Path
) -> None:
    seen: list[str] = []

    def tell(what: str, number: int) -> None:
        seen.append(what)
        if len(seen) == 3:
            raise KeyboardInterrupt

    pair = (files, LocalObjects(tmp_path / "one" / "files"))
    with pytest.raises(KeyboardInterrupt):
        exported(full, tmp_path / "one", selection, part=10, told=tell)
    parts = {path: path.stat().st_mtime_ns for path in (tmp_path / "one").glob("records/*/*")}
    assert parts
    with pytest.raises(Conflict, match="another export"):
        exported(full, tmp_path / "one", selection, personal=False)
    carried: list[str] = []

    def tell_and_end(what: str, number: int) -> None:
        if what == "files":
            carried.append(what)
            if len(carried) == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exported(full, tmp_path / "one", selection, part=10, files=pair, told=tell_and_end)
    exported(full, tmp_path / "one", selection, part=10, files=pair, told=lambda what, number: carried.append(what))
    assert carried.count("files") == 25, "a file that is there is not carried again"
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "files", "manifest.json", "objects.jsonl", "records"
    ]  # fmt: skip
    assert {path: path.stat().st_mtime_ns for path in parts} == parts, "what was there is not written again"
    exported(full, tmp_path / "whole", selection)
    assert content(tmp_path / "one") == content(tmp_path / "whole")
    with pytest.raises(Conflict, match="complete"):
        exported(full, tmp_path / "one", selection)


def test_personal_fields_are_left_out_on_request(full: Store, selection: Selection, tmp_path: Path) -> None:
    exported(full, tmp_path / "one", selection, personal=False)
    assert "director 5" not in "".join(content(tmp_path / "one"))
    exported(full, tmp_path / "two", selection)
    assert "director 5" in "".join(content(tmp_path / "two"))


def test_one_project_has_its_own_records_and_the_files_they_point_at(
    full: Store, files: LocalObjects, tmp_path: Path
) -> None:
    selection = select([DOMAIN], [SYSTEM_RECORDS, WORKING], project="p1")
    pair = (files, LocalObjects(tmp_path / "one" / "files"))
    exported(full, tmp_path / "one", selection, files=pair)
    lines = [json.loads(line) for line in content(tmp_path / "one")]
    assert {line["record"]["project_id"] for line in lines} == {"p1"}
    assert {line["entity"] for line in lines} >= {"reels.Reel", "penstock.SystemAudit", "penstock.SystemMessage"}
    listed = [json.loads(line)["key"] for line in (tmp_path / "one" / "objects.jsonl").read_text().splitlines()]
    assert listed == sorted(f"films/p1/{number:03d}.bin" for number in range(3, 26, 3))


class TestDamage:
    @pytest.fixture
    def folder(self, full: Store, selection: Selection, files: LocalObjects, tmp_path: Path) -> Path:
        exported(full, tmp_path / "one", selection, files=(files, LocalObjects(tmp_path / "one" / "files")), part=10)
        return tmp_path / "one"

    @pytest.fixture
    def damage(
        self, folder: Path, opened: Callable[[str], Store], selection: Selection, tmp_path: Path
    ) -> Callable[[], str]:
        """What an import says of it, having changed nothing."""

        def tried() -> str:
            store, arrived = opened("other"), LocalObjects(tmp_path / "other-files")
            beside = LocalObjects(folder / "files")
            with pytest.raises(DamagedExport) as refused:
                ImportedExport(folder, selection.entities, files=(beside, arrived)).run(store)
            assert store.engine.scan(Reel.__shape__).found == store.engine.scan(Shelf.__shape__).found == []
            assert arrived.list().objects == []
            return str(refused.value)

        return tried

    def part(self, folder: Path, number: int = 1) -> Path:
        return folder / "records" / "reels.Reel" / f"{number:05d}.jsonl.gz"

    def test_a_part_whose_bytes_changed_is_named(self, folder: Path, damage: Callable[[], str]) -> None:
        path = self.part(folder)
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
        assert "records/reels.Reel/00001.jsonl.gz: does not hash" in damage()

    def test_a_missing_part_is_named(self, folder: Path, damage: Callable[[], str]) -> None:
        self.part(folder).unlink()
        assert "records/reels.Reel/00001.jsonl.gz: is missing" in damage()

    def test_a_part_that_lies_outside_of_the_export_is_none(self, folder: Path, damage: Callable[[], str]) -> None:
        """Who made a manifest is not to say which files of this machine are read."""
        outside = folder.parent / "outside.jsonl.gz"
        outside.write_bytes(self.part(folder).read_bytes())
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace("records/reels.Reel/00001.jsonl.gz", "../outside.jsonl.gz"))
        assert "../outside.jsonl.gz: is missing" in damage()

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda r: r.update(number="x"), "record 1: "),
            (lambda r: r.update(status="lost"), "record 1: "),
            (lambda r: r.pop("title"), "record 1: "),
            (lambda r: r.update(price="2.5"), "are not the manifest's 10"),
            (lambda r: r.update(unknown=1), "unknown"),
        ],
    )
    def test_a_record_that_does_not_fit_its_declaration_is_named(
        self, folder: Path, damage: Callable[[], str], change: Callable[[dict[str, Any]], object], said: str
    ) -> None:
        """Also where somebody has mended the sum of the file, by which alone it would be found."""
        path = self.part(folder)
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        told = json.loads(lines[0])
        change(told["record"])
        self._rewrite(folder, path, [json.dumps(told).encode() + b"\n", *lines[1:]])
        assert "records/reels.Reel/00001.jsonl.gz" in (text := damage())
        assert said in text

    def test_a_record_that_is_there_twice_is_found(self, folder: Path, damage: Callable[[], str]) -> None:
        path = self.part(folder)
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        self._rewrite(folder, path, [lines[0], *lines])
        assert "its 11 records are not the manifest's 10" in damage()

    def test_a_damaged_and_a_missing_file_are_named(self, folder: Path, damage: Callable[[], str]) -> None:
        beside = LocalObjects(folder / "files")
        beside.put("films/p3/002.bin", b"film X")
        beside.delete(["films/p1/003.bin"])
        text = damage()
        assert "the file films/p3/002.bin: its bytes are not those that were exported" in text
        assert "the file films/p1/003.bin: is missing" in text

    def test_a_list_of_files_that_is_not_the_manifests_is_named(self, folder: Path, damage: Callable[[], str]) -> None:
        manifest = folder / "manifest.json"
        told = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**told, "objects": 24}))
        assert "objects.jsonl: has 25 files, not the 24 of the manifest" in damage()
        manifest.write_text(json.dumps({**told, "objects": None}))
        assert "objects.jsonl: the export has no files; import it without" in damage()
        manifest.write_text(json.dumps(told))
        (folder / "objects.jsonl").unlink()
        assert "objects.jsonl: does not hash to what the manifest says" in damage()

    def test_no_manifest_is_no_export(self, folder: Path, selection: Selection) -> None:
        (folder / "manifest.json").unlink()
        with pytest.raises(DamagedExport, match="not there"):
            ImportedExport(folder, selection.entities)
        (folder / "manifest.json").write_text('{"format": "penstock-export/1", "entities": 3}')
        with pytest.raises(DamagedExport, match="no manifest"):
            ImportedExport(folder, selection.entities)
        (folder / "manifest.json").write_text('{"format": "penstock-export/9"}')
        with pytest.raises(DamagedExport, match="penstock-export/9"):
            ImportedExport(folder, selection.entities)

    @staticmethod
    def _rewrite(folder: Path, path: Path, lines: list[bytes]) -> None:
        import hashlib

        was = hashlib.sha256(path.read_bytes()).hexdigest()
        path.write_bytes(gzip.compress(b"".join(lines)))
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace(was, hashlib.sha256(path.read_bytes()).hexdigest()))


def test_an_import_goes_on_where_it_was_ended_and_refuses_a_store_with_records(
    full: Store, opened: Callable[[str], Store], selection: Selection, tmp_path: Path
) -> None:
    exported(full, tmp_path / "one", selection, part=10)
    other = opened("other")
    loaded: list[str] = []

    def tell(what: str, number: int) -> None:
        if what == "reels.Reel":
            raise KeyboardInterrupt
        loaded.append(what)

    with pytest.raises(KeyboardInterrupt):
        ImportedExport(tmp_path / "one", selection.entities, told=tell).run(other)
    assert len(other.engine.scan(Reel.__shape__).found) == 10
    exported(full, tmp_path / "another", selection, part=5)
    with pytest.raises(Conflict, match="not empty"):  # how far it is, is of the other
        ImportedExport(tmp_path / "another", selection.entities).run(other)
    loaded.clear()
    ImportedExport(tmp_path / "one", selection.entities, told=lambda what, number: loaded.append(what)).run(other)
    assert loaded.count("reels.Reel") == 2, "the part that was there is not written again"
    exported(other, tmp_path / "two", selection)
    assert content(tmp_path / "two") == content(tmp_path / "one")
    with pytest.raises(Conflict, match=r"not empty.*reels\.Reel"):
        ImportedExport(tmp_path / "one", selection.entities).run(other)
    ImportedExport(tmp_path / "one", selection.entities).run(other, into_existing=True)
