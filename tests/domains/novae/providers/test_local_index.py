"""A folder that knows novae: its manifest, its files, and those who would lead out of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from penstock.domains.novae.providers import open_nova_folder
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.provider import ClassicalNova, NovaQuery, Paper, SkyPlace
from penstock.errors import Misconfigured
from tests.domains.novae.providers.conftest import SAMPLES

SCO = NovaQuery(("V1324 Sco",))
CODE = "2018A&A...609A.120F"


def _written(folder: Path, *novae: Any, **more: Any) -> LocalIndex:
    (folder / "manifest.json").write_text(json.dumps({"novae": list(novae), **more}))
    return LocalIndex("mine", folder)


def _file(folder: Path, path: str, content: str = "SIMPLE  = T") -> Path:
    there = folder / path
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_text(content)
    return there


def test_a_manifest_in_json_tells_all_of_a_nova(tmp_path: Path) -> None:
    _file(tmp_path, "spectra/a.fits")
    _file(tmp_path, "spectra/b.fits", "SIMPLE  = T, and more")
    _file(tmp_path, "phot/v.csv", "1,2")
    _file(tmp_path, "phot/v.txt", "OBJECT NAME: V1324_Sco")
    spectra = ["spectra/a.fits", {"file": "spectra/b.fits", "id": "B-7", "instrument": "UVES", "md5": "0" * 32}]
    index = _written(
        tmp_path,
        {
            "name": "V1324 Sco",
            "aliases": ["Nova Sco 2012"],
            "ra": "17:50:53.9",
            "dec": "-32:37:20.5",
            "type": "Nova",
            "spectra": spectra,
            "photometry": [{"file": "phot/v.csv", "ticket": "phot/v.txt"}],
            "bibcodes": [CODE],
        },
    )
    first, second = index.products(NovaQuery(("nova_sco 2012",)))
    assert (first.identity, second.identity) == ("url:local:spectra/a.fits", "id:B-7")
    assert second.locators == ("local:spectra/b.fits",)
    assert second.hints == {"instrument": "UVES", "target": "V1324 Sco", "size": 21}
    assert second.checksum == "md5:" + "0" * 32
    (table,) = index.photometry(SCO)
    assert table.hints["ticket"] == "local:phot/v.txt"
    (match,) = index.resolve("v1324  SCO").matches
    assert match.position is not None
    assert match.position.ra == pytest.approx(267.724583, abs=1e-6)
    assert match.position.dec == pytest.approx(-32.622361, abs=1e-6)
    assert match.is_classical_nova is ClassicalNova.YES
    assert [each.reference_id for each in index.papers(["V1324 Sco"]) if isinstance(each, Paper)] == [CODE]
    assert list(index.papers(bibcodes=["2000ApJ...000....1X"])) == []


def test_a_manifest_in_csv_tells_the_same(tmp_path: Path) -> None:
    _file(tmp_path, "a.fits")
    _file(tmp_path, "v.csv")
    lines = [
        "name,aliases,ra,dec,type,kind,file,ticket,bibcode,title,date,instrument",
        "V1324 Sco,Nova Sco 2012|PNV J17505385,267.72,-32.62,Nova,spectrum,a.fits,,,,,UVES",
        f"V1324_Sco,,,,,photometry,v.csv,,{CODE},,,",
        f"V1324 Sco,,,,,paper,,,{CODE},Gamma rays,2018-01-15,",
        ",,,,,spectrum,a.fits,,,,,",
    ]
    (tmp_path / "manifest.csv").write_text("\n".join(lines))
    index = LocalIndex("mine", tmp_path)
    (match,) = index.resolve("PNV J17505385").matches
    assert match.position == SkyPlace(267.72, -32.62)
    assert [each.hints["instrument"] for each in index.products(SCO)] == ["UVES"]
    assert len(index.photometry(SCO)) == 1
    (paper,) = index.papers(["V1324 Sco"])
    assert isinstance(paper, Paper)
    assert (paper.title, paper.date) == ("Gamma rays", "2018-01-15")
    assert [each.code for each in index.index().findings] == ["NO_NAME"]


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "a/../../secret", "..\\secret", "C:\\x", "a\0b", "", "   ", 7, None, "x" * 600]
)
def test_no_path_of_a_manifest_leads_out_of_the_folder(tmp_path: Path, path: Any) -> None:
    _file(tmp_path, "secret", "not yours")
    folder = tmp_path / "index"
    _file(folder, "good.fits")
    index = _written(folder, {"name": "V1324 Sco", "spectra": [{"file": path}, "good.fits"]})
    search = index.products(SCO)
    assert [each.locators for each in search] == [("local:good.fits",)]
    assert [each.code for each in search.findings] == ["BAD_FILE"]
    with pytest.raises(ValueError, match=r"folder|named"):
        index.file(f"local:{path}")


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    _file(tmp_path, "elsewhere/secret.fits")
    folder = tmp_path / "index"
    _file(folder, "inside/good.fits")
    (folder / "link.fits").symlink_to(tmp_path / "elsewhere" / "secret.fits")
    (folder / "way").symlink_to(tmp_path / "elsewhere")
    (folder / "round").symlink_to(folder / "round")
    (folder / "near.fits").symlink_to(folder / "inside" / "good.fits")
    names = ["link.fits", "way/secret.fits", "round", "inside", "near.fits"]
    search = _written(folder, {"name": "V1324 Sco", "spectra": names}).products(SCO)
    assert [each.locators for each in search] == [("local:near.fits",)]
    assert len(search.findings) == 4


def test_a_manifest_that_is_a_link_to_elsewhere_is_none(tmp_path: Path) -> None:
    _written(tmp_path)
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "manifest.json").symlink_to(tmp_path / "manifest.json")
    with pytest.raises(Misconfigured, match="no local index"):
        LocalIndex("mine", folder).resolve("x")


@pytest.mark.parametrize(
    ("ra", "dec"), [(400, 0), (10, 91), ("12:61:00", 4), ("here", "there"), (10, None), ("nan", 1)]
)
def test_a_place_that_is_none_is_told_and_the_nova_kept(tmp_path: Path, ra: Any, dec: Any) -> None:
    index = _written(tmp_path, {"name": "V1324 Sco", "ra": ra, "dec": dec})
    resolution = index.resolve("V1324 Sco")
    assert resolution.matches[0].position is None
    assert [each.code for each in resolution.findings] == ["INVALID_COORDINATES"]


def test_what_is_wrong_with_one_nova_leaves_the_others(tmp_path: Path) -> None:
    _file(tmp_path, "a.fits")
    entries = [{"ra": 1}, 7, None, {"name": "V1324 Sco", "bibcodes": ["x", CODE], "spectra": 7, "aliases": "x"}]
    index = _written(tmp_path, *entries, {"name": "B", "spectra": [{"file": "a.fits", "sha256": "short"}]}, papers=[{}])
    assert [each.code for each in index.index().findings] == ["NO_NAME"] * 3 + ["BAD_BIBCODE"]
    assert [each.code for each in index.products(SCO).findings] == ["BAD_BIBCODE"]
    assert [each.code for each in index.products(NovaQuery(("b",))).findings] == ["BAD_FILE"]


@pytest.mark.parametrize("text", ["{", "[]", '{"novae": 7}', "[" * 100_000, "\xff"])
def test_a_manifest_that_cannot_be_read_is_told_by_its_path(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(Misconfigured, match=r"manifest\.json"):
        LocalIndex("mine", tmp_path).products(SCO)


def test_files_beyond_the_most_are_told(tmp_path: Path) -> None:
    _file(tmp_path, "a.fits")
    search = _written(tmp_path, {"name": "V1324 Sco", "spectra": ["a.fits"] * 10_500}).products(SCO)
    assert len(search) == 1  # each once
    assert [each.code for each in search.findings] == ["TOO_MANY_FILES"]


def test_two_novae_of_one_name_are_both_told(tmp_path: Path) -> None:
    """NC-7: several require reconciliation, never a silent pick."""
    index = _written(tmp_path, {"name": "Nova Cyg", "ra": 1, "dec": 1}, {"name": "V1500 Cyg", "aliases": ["nova cyg"]})
    assert len(index.resolve("Nova Cyg").matches) == 2


def test_a_file_that_is_put_there_anew_is_another_edition_of_the_same(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.fits")
    index = _written(tmp_path, {"name": "V1324 Sco", "spectra": ["a.fits"]})
    (before,) = index.products(SCO)
    (same,) = index.products(SCO)
    path.write_text("SIMPLE  = T, and more of it")
    (after,) = index.products(SCO)
    assert before.identity == after.identity
    assert not same.republished(before.edition)
    assert after.republished(before.edition)


def test_a_manifest_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    index = _written(tmp_path, {"name": "V1324 Sco"})
    assert index.resolve("GQ Mus").matches == ()
    _written(tmp_path, {"name": "V1324 Sco"}, {"name": "GQ Mus"})
    assert len(index.resolve("GQ Mus").matches) == 1


# The Open Nova Catalog


def test_a_catalogue_reads_nothing_through_links_to_elsewhere(tmp_path: Path) -> None:
    _file(tmp_path, "elsewhere/secret.csv", "not yours")
    _file(tmp_path, "elsewhere/secret.txt", "OBJECT NAME: V1324_Sco\nDATA FILENAME: ../../elsewhere/secret.csv")
    folder = tmp_path / "onc"
    _file(folder, "names/names.min.json", json.dumps({"V1324 Sco": ["V1324 Sco", 7], "x": None}))
    _file(folder, "names/catalog.min.json", json.dumps([7, {"name": "V1324 Sco", "ra": [{"value": "1"}], "dec": 7}]))
    _file(folder, "tickets/a.txt", "OBJECT NAME: V1324_Sco\nDATA FILENAME: ../../elsewhere/secret.csv\nBIBCODE: NA")
    _file(folder, "tickets/b.txt", "nothing")
    (folder / "tickets" / "c.txt").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (folder / "photometry").mkdir()
    (folder / "photometry" / "V1324_Sco_AAVSO.csv").symlink_to(tmp_path / "elsewhere" / "secret.csv")
    _file(folder, "photometry/nobody.csv")
    index = LocalIndex("onc", folder)
    search = index.photometry(SCO)
    assert search.products == ()
    assert [each.code for each in search.findings] == ["NO_FILE"]
    assert sorted(each.code for each in index.index().findings) == ["BAD_TICKET", "WHOSE_TABLE"]
    _file(folder, "photometry/V1324_Sco_Strope_Optical_Photometry.csv")
    assert len(index.photometry(SCO)) == 1  # it is read anew


def test_a_catalogue_tells_names_places_papers_and_tables(tmp_path: Path) -> None:
    _file(tmp_path, "names/names.min.json", json.dumps({"V1324 Sco ": ["V1324 Sco ", "Nova Sco 2012"], "GQ Mus": []}))
    sco: dict[str, Any] = {"name": "V1324 Sco", "references": f"{CODE},nonsense", "dec": [{"value": "-32:37:20.5"}]}
    sco |= {"ra": [{"value": "17:50:53.9"}], "alias": [{"value": "PNV J17505385"}, {"value": "Nova Sco 2012"}, 7]}
    two = [{"value": "1"}, {"value": "2"}]
    _file(tmp_path, "names/catalog.min.json", json.dumps([sco, {"name": "GQ Mus", "ra": two, "dec": two}]))
    other, circular = "1992AJ....104..725W", "1997ATel....1....1K"
    authors = {CODE: " Finzell et al. ", circular: "Kuulkers", other: " ", "nonsense": "nobody"}
    _file(tmp_path, "references/bibauthors.json", json.dumps(authors))
    _file(tmp_path, "references/atels.json", json.dumps({"1": circular, "2": "nonsense", "3": None}))
    _file(tmp_path, "tickets/a.txt", f"OBJECT NAME: V1324_Sco\nDATA FILENAME: v.csv\nBIBCODE: {other}")
    listing = "OBJECT NAME: V1324_Sco\nMETADATA FILENAME: List.csv\nFILENAME COLUMN: 1\nBIBCODE: NA"
    _file(tmp_path, "tickets/b.txt", listing)
    _file(tmp_path, "spectra_csv/List.csv", "#night,file\n1, a.csv\n2, \n3\n4,gone.csv")
    for table in ("spectra_csv/a.csv", "photometry/v.csv", "photometry/V1324_Sco_More.csv", "photometry/GQMUSA.csv"):
        _file(tmp_path, table)
    index = LocalIndex("onc", tmp_path)

    (match,) = index.resolve("pnv j17505385").matches
    assert (match.canonical_name, match.aliases) == ("V1324 Sco", ("Nova Sco 2012", "PNV J17505385"))
    assert match.position is not None
    assert (match.position.ra, match.position.dec) == pytest.approx((267.724583, -32.622361), abs=1e-6)
    several = index.resolve("GQ Mus")
    assert (several.matches[0].position, several.findings[0].code) == (None, "AMBIGUOUS_POSITION")
    about = list(index.papers(["V1324 Sco"], bibcodes=[circular, "nonsense"]))
    assert [(p.reference_id, p.title, p.authors, p.date) for p in about if isinstance(p, Paper)] == [
        (other, None, (), "1992-00-00"),
        (CODE, None, ("Finzell et al.",), "2018-00-00"),
        (circular, "ATel 1", ("Kuulkers",), "1997-00-00"),
    ]
    tables = {each.locators[0]: (each.hints.get("ticket"), each.hints.get("bibcode")) for each in index.photometry(SCO)}
    assert tables == {
        "local:photometry/v.csv": ("local:tickets/a.txt", other),
        "local:photometry/V1324_Sco_More.csv": (None, None),
    }
    spectra = index.products(SCO)
    assert [(each.locators, each.hints["ticket"]) for each in spectra] == [
        (("local:spectra_csv/a.csv",), "local:tickets/b.txt")
    ]
    assert [each.code for each in spectra.findings] == ["NO_FILE"]
    assert len(index.photometry(NovaQuery(("GQ Mus",)))) == 1
    assert index.index().findings == []


def test_a_table_that_is_called_like_two_novae_or_hardly_like_one_is_left_out(tmp_path: Path) -> None:
    names = ["V2214 Oph", "V2214 Opm", "XY Z", "GQ Mus North"]
    _file(tmp_path, "names/names.min.json", json.dumps({name: [] for name in names}))
    for table in ("V2214OPA", "XYZA", "GQMUSA"):
        _file(tmp_path, f"photometry/{table}.csv")
    index = LocalIndex("onc", tmp_path)
    assert [each.code for each in index.index().findings] == ["WHOSE_TABLE"] * 3
    assert [len(index.photometry(NovaQuery((name,)))) for name in names] == [0] * 4


def test_a_catalogue_is_read_as_far_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_nova_folder, "_MOST_TABLES", 2)
    monkeypatch.setattr(open_nova_folder, "_LONGEST_TICKET", 100)
    _file(tmp_path, "names/names.min.json", json.dumps({"V1324 Sco": []}))
    for name in "abc":
        _file(tmp_path, f"photometry/V1324_Sco_{name}.csv")
    _file(tmp_path, "tickets/a.txt", "OBJECT NAME: V1324_Sco\nREMARK: " + "x" * 100)
    strange = "OBJECT NAME: V1324_Sco\nMETADATA FILENAME: List.csv\nFILENAME COLUMN: second"
    _file(tmp_path, "tickets/b.txt", strange)
    _file(tmp_path, "spectra_csv/List.csv", "a.csv,x")
    _file(tmp_path, "spectra_csv/a.csv")
    index = LocalIndex("onc", tmp_path)
    assert (len(index.photometry(SCO)), len(index.products(SCO))) == (2, 1)
    assert sorted(each.code for each in index.index().findings) == ["BAD_TICKET", "TOO_MANY_FILES"]
    monkeypatch.setattr(open_nova_folder, "MOST_NOVAE", 1)
    _file(tmp_path, "names/names.min.json", json.dumps({"V1324 Sco": [], "GQ Mus": []}))
    with pytest.raises(Misconfigured, match="more than 1 novae"):
        LocalIndex("onc", tmp_path).index()
    for text in ("{", "[" * 100_000):
        _file(tmp_path, "names/names.min.json", text)
        with pytest.raises(Misconfigured, match=r"names\.min\.json is no JSON"):
            LocalIndex("onc", tmp_path).index()


@pytest.fixture(scope="module")
def catalogue() -> LocalIndex:
    folder = SAMPLES / "novae"
    if not folder.is_dir():
        pytest.skip("there is no folder of real samples beside the repository: shared/data/novae")
    return LocalIndex("onc", folder)


@pytest.mark.realdata
def test_a_real_catalogue_knows_its_novae_by_every_name(catalogue: LocalIndex) -> None:
    names = json.loads((SAMPLES / "novae" / "names" / "names.min.json").read_text())
    for name, aliases in list(names.items())[::40]:
        for each in (name, *aliases):
            found = catalogue.resolve(each.upper()).matches
            assert name in [match.canonical_name for match in found]


@pytest.mark.realdata
def test_a_real_catalogue_has_its_positions_and_tells_where_it_has_several(catalogue: LocalIndex) -> None:
    (match,) = catalogue.resolve("M31N 1990-09e").matches
    assert match.position is not None
    assert match.position.ra == pytest.approx(10.317917, abs=1e-5)  # 00:41:16.30
    assert match.position.dec == pytest.approx(40.818889, abs=1e-5)  # +40:49:08.0
    several = catalogue.resolve("M31N 1909-09c")
    assert several.matches[0].position is None
    assert [each.code for each in several.findings] == ["AMBIGUOUS_POSITION"]


@pytest.mark.realdata
def test_a_real_catalogue_has_every_table_with_its_ticket(catalogue: LocalIndex) -> None:
    folder = SAMPLES / "novae"
    index = catalogue.index()
    tables = [each for nova in index.novae for each in nova.photometry]
    ticketed = {each.path for each in tables if each.ticket}
    assert {each.path for each in tables} >= {f"photometry/{p.name}" for p in (folder / "photometry").glob("*.csv")}
    data = [
        line.partition(":")[2].strip()
        for path in (folder / "tickets").glob("*.txt")
        for line in path.read_text().splitlines()
        if line.startswith("DATA FILENAME")
    ]
    assert ticketed == {f"photometry/{name}" for name in data if (folder / "photometry" / name).is_file()}
    spectra = {each.path for nova in index.novae for each in nova.spectra}
    wanted = {f"spectra_csv/{p.name}" for p in (folder / "spectra_csv").glob("*.csv") if "MetaData" not in p.name}
    assert spectra == wanted
    assert len(catalogue.products(NovaQuery(("GQ Mus",)))) == 4
    assert len(catalogue.products(NovaQuery(("V2214 Oph",)))) == 6


@pytest.mark.realdata
def test_a_real_catalogue_knows_papers_by_their_bibcodes(catalogue: LocalIndex) -> None:
    paper, circular = catalogue.papers(bibcodes=["2004PASP..116..326W", "1997ATel....1....1K"])
    assert isinstance(paper, Paper)
    assert (paper.authors, paper.date) == (("Wagner et al. (2004)",), "2004-00-00")
    assert isinstance(circular, Paper)
    assert circular.title == "ATel 1"
    about = [each.reference_id for each in catalogue.papers(["GQ Mus"]) if isinstance(each, Paper)]
    assert "1992AJ....104..725W" in about


def test_the_folder_is_only_read(tmp_path: Path) -> None:
    _file(tmp_path, "a.fits")
    index = _written(tmp_path, {"name": "V1324 Sco", "spectra": ["a.fits"]})
    os.chmod(tmp_path, 0o555)
    try:
        assert len(index.products(SCO)) == 1
    finally:
        os.chmod(tmp_path, 0o755)
