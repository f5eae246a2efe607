"""A file is compared with the nova that it was given to; what plainly is another's waits for a person."""

from __future__ import annotations

from penstock.domains.novae import quarantine
from penstock.domains.novae.model import DatasetType, Nova, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import add_alias
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import NOVA_ID, added, discovered, known, the_dataset, verdicts
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits
from tests.domains.novae.story import work_through

TICKET = """OBJECT NAME: CP_Cru
TIME UNITS: days
FLUX UNITS: mag
TIME SYSTEM: JD
TIME COLUMN NUMBER: 0
FLUX COLUMN NUMBER: 1
FLUX ERROR COLUMN NUMBER: 2
FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER: V
DATA FILENAME: CP_Cru.csv
"""
BARE = b"\n".join(b"%.1f,%.2f,0.05" % (2456080.5 + day, 10 + day / 4) for day in range(12))


def _reason(catalogue: NovaCatalogue) -> tuple[str | None, str | None]:
    dataset = the_dataset(catalogue)
    return dataset.processing_status.value, dataset.quarantine_reason_code


def test_a_spectrum_of_another_star_waits_also_one_that_a_provider_has(eso: Archive, catalogue: NovaCatalogue) -> None:
    eso.publish("a.fits", spectrum_fits(OBJECT="HD30501"))
    known(catalogue)
    discovered(catalogue)
    assert _reason(catalogue) == ("QUARANTINED", "OBJECT_MISMATCH")
    details = the_dataset(catalogue).quarantine_details or {}
    assert (details["told"], details["nova"]) == ("HD30501", "V1324 Sco"), "both values are told"


def test_a_place_further_than_an_arcminute_waits(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    with catalogue.store.change() as change:
        nova = change.get(Nova.at(nova_id=NOVA_ID))
        nova.ra_deg, nova.dec_deg = 267.7246, -32.6223
        change.save(nova)
    data = spectrum_fits(OBJECT=None, RA=71.4, DEC=-20.0)
    added(catalogue, data, type=DatasetType.SPECTRA, name="a.fits")
    assert _reason(catalogue) == ("QUARANTINED", "OBJECT_MISMATCH")
    assert (the_dataset(catalogue).quarantine_details or {})["arcsec"] > 60


def test_a_table_whose_rows_name_another_nova_waits(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, light_curve_csv().replace(b"V1324 Sco", b"CI Aql"))
    assert _reason(catalogue) == ("QUARANTINED", "OBJECT_MISMATCH")


def test_a_ticket_of_another_nova_waits(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, BARE, ticket=TICKET)
    assert _reason(catalogue) == ("QUARANTINED", "OBJECT_MISMATCH")
    assert (the_dataset(catalogue).quarantine_details or {})["told_by"] == "the ticket"


def test_a_file_that_names_nothing_or_anything_goes_on(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, spectrum_fits(OBJECT="PH957"), type=DatasetType.SPECTRA, name="a.fits")
    dataset = the_dataset(catalogue)
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert "PH957" in (dataset.summary or {})["remarks"][0]


def test_a_person_says_that_it_is_this_nova(catalogue: NovaCatalogue) -> None:
    """With a hint; the former verdict stays readable."""
    known(catalogue)
    added(catalogue, light_curve_csv().replace(b"V1324 Sco", b"CI Aql"))
    waits = the_dataset(catalogue)
    quarantine.clear(catalogue, NOVA_ID, waits.dataset_id, hints={"object": "this"}, by="ann")
    work_through(catalogue)
    dataset = the_dataset(catalogue)
    assert dataset.processing_status is ProcessingStatus.COMPLETED
    assert {each.code for each in verdicts(catalogue, dataset)} == {"OBJECT_MISMATCH", None}


def test_an_alias_that_is_added_lets_it_be_compared_again(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, spectrum_fits(OBJECT="HD30501"), type=DatasetType.SPECTRA, name="a.fits")
    waits = the_dataset(catalogue)
    quarantine.clear(catalogue, NOVA_ID, waits.dataset_id, by="ann")
    work_through(catalogue)
    assert _reason(catalogue) == ("QUARANTINED", "OBJECT_MISMATCH"), "nothing new was said"
    add_alias(catalogue, NOVA_ID, "HD 30501", shared=False, by="ann", why=None)
    quarantine.clear(catalogue, NOVA_ID, waits.dataset_id, by="ann")
    work_through(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED
