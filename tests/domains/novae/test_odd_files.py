"""Files with odd names and odd contents: none fails a run, ends a nova's bundles, or lets another overwrite it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from penstock.domains.novae import contributions, merging
from penstock.domains.novae.model import DatasetType, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.storable import storable
from penstock.schema.role import Role
from tests.domains.novae.data_story import INGEST, NOVA_ID, added, datasets, known, outcomes, sent, the_dataset
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits, unknown_table
from tests.domains.novae.story import Astronomer, new_nova, work, work_through

NO_BAND = b"JD,mag\n" + b"".join(b"%d,%.1f\n" % (2450000 + at, 10 + at / 10) for at in range(20))
BLANK_BAND = b"JD,mag,band\n" + b"".join(b"%d,10,%s\n" % (2450000 + at, b"V" if at else b"") for at in range(20))
BLANK_FLAG = b"JD,mag,band,validation flag\n" + b"".join(b"%d,10,V,\n" % (2450000 + at) for at in range(20))


@pytest.mark.parametrize("table", [NO_BAND, BLANK_BAND, BLANK_FLAG])
def test_a_table_with_blank_cells_is_ingested(anywhere: NovaCatalogue, table: bytes) -> None:
    """NC-31: on every engine."""
    known(anywhere)
    added(anywhere, table)
    assert outcomes(anywhere, INGEST) == [("SUCCEEDED", "INGESTED")]
    assert (the_dataset(anywhere).summary or {})["rows"] == 20


@pytest.mark.parametrize("name", ["aside", "derived", "came", "source.json", "con.csv", "aux.csv", "nul.dat"])
@pytest.mark.parametrize("valid", [True, False])
def test_a_file_may_be_called_anything(catalogue: NovaCatalogue, name: str, valid: bool) -> None:
    known(catalogue)
    added(catalogue, light_curve_csv() if valid else unknown_table(), name=name)
    told = ProcessingStatus.COMPLETED if valid else ProcessingStatus.QUARANTINED
    assert the_dataset(catalogue).processing_status is told
    ann = Astronomer(catalogue)
    ann.post(f"/novae/{NOVA_ID}/bundle")
    work_through(catalogue)
    assert ann.get(f"/novae/{NOVA_ID}/bundle")["fresh"] is True


@pytest.mark.parametrize(
    ("said", "odd"),
    [
        (b"EXPTIME =                 60.0", b"EXPTIME =               1E+999"),
        (b"EXPTIME =                 60.0", b"EXPTIME =              -1.E300"),
        (b"'V1324 Sco'", b"'V1324\0Sco'"),
        (b"'BOSS    '", b"'B\0SS    '"),
    ],
)
def test_a_header_that_no_engine_can_hold_gets_a_verdict(anywhere: NovaCatalogue, said: bytes, odd: bytes) -> None:
    known(anywhere)
    data = spectrum_fits(EXPTIME=60.0)
    assert said in data
    added(anywhere, data.replace(said, odd), type=DatasetType.SPECTRA, name="odd.fits")
    assert the_dataset(anywhere).processing_status is ProcessingStatus.COMPLETED


def test_what_cannot_be_stored_is_told_as_a_text() -> None:
    told = storable({"": float("inf"), "a": [1e300, 2**70, 1.5, True, None, "x\0y"], "b\0": {"c": 3}})
    assert told == {"(blank)": "inf", "a": ["1e+300", str(2**70), 1.5, True, None, "x\N{REPLACEMENT CHARACTER}y"]} | {
        "b\N{REPLACEMENT CHARACTER}": {"c": 3}
    }


def test_a_table_with_a_band_for_each_row_keeps_a_small_record(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    rows = b"".join(b"%d,10.%d,b%04d\n" % (2450000 + at, at % 10, at) for at in range(2000))
    added(catalogue, b"JD,mag,band\n" + rows)
    summary = the_dataset(catalogue).summary or {}
    assert (len(summary["bands"]), summary["different_bands"], summary["rows"]) == (100, 2000, 2000)


def test_only_whoever_announced_a_file_is_told_where_to_send_it(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    reserved = sent(catalogue, light_curve_csv())
    place = f"/files/{reserved.contribution.contribution_id}"
    told = {role: Astronomer(catalogue, role).get(place)["upload"] for role in (Role.VIEWER, Role.EDITOR, Role.ADMIN)}
    assert (told[Role.VIEWER], told[Role.EDITOR]) == (None, None), "ann announced it, and these are others"
    assert told[Role.ADMIN] is not None
    eve = Astronomer(catalogue, Role.EDITOR)
    body = {"dataset_type": "PHOTOMETRY", "file_name": "t.csv", "size": 3, "sha256": "0" * 64}
    hers = eve.post(f"/novae/{NOVA_ID}/files", body, status=201)
    assert eve.get(f"/files/{hers['contribution_id']}")["upload"] is not None


def test_datasets_that_a_merge_takes_from_their_runs_are_taken_up_again(anywhere: NovaCatalogue) -> None:
    known(anywhere)
    other = new_nova(anywhere.store, uuid4(), "Other").nova_id
    for at in range(3):
        reserved = sent(anywhere, light_curve_csv(10 + at), name=f"t{at}.csv")
        contributions.complete(anywhere, reserved.contribution.contribution_id, by="ann")
    work(anywhere)  # some are leased by their runs, and none is done
    merging.merge(anywhere, NOVA_ID, other, by="ann")
    work_through(anywhere)
    assert {each.processing_status for each in datasets(anywhere, other)} == {ProcessingStatus.COMPLETED}


def test_the_same_file_completed_many_times_at_once_is_one_dataset(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    data = light_curve_csv(9)
    ids = [sent(catalogue, data).contribution.contribution_id for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda each: contributions.complete(catalogue, each, by="ann"), ids))
    assert len({each.dataset_id for each in taken}) == 1
