"""When a nova was discovered: by papers, by what was measured, by an index, by a person; and who says so."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.domains.novae import corrections, quarantine
from penstock.domains.novae.corrections import SaidOfNova
from penstock.domains.novae.discovery_date import date_anew, discovery_words, move_discovery, observation_of
from penstock.domains.novae.errors import OtherVersion
from penstock.domains.novae.first_detection import day_of, detected_on
from penstock.domains.novae.model import Dataset, DatasetType, Nova, NovaStatus, ProcessingStatus, Reference
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.provider import DiscoveryTold, Paper, ResolvedObject
from penstock.domains.novae.states import DiscoverySource
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from tests.domains.novae.data_story import NOVA_ID, added, known, the_dataset
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits
from tests.domains.novae.story import Astronomer, new_dataset, work_through


def _nova(catalogue: NovaCatalogue, nova_id: UUID = NOVA_ID) -> Nova:
    return catalogue.store.get(Nova.at(nova_id=nova_id))


def test_a_paper_dates_a_nova_and_the_words_say_that_it_is_a_paper(sky: KnownSky, catalogue: NovaCatalogue) -> None:
    """NC-16: the earliest reference; never told as more than it is."""
    known(catalogue)
    sky.papers.held = [Paper("2010NewA...15..175P", date="2010-00-00")]
    ann = Astronomer(catalogue)
    ann.post(f"/novae/{NOVA_ID}/references/refresh")
    work_through(catalogue)
    told = ann.get(f"/novae/{NOVA_ID}")
    assert (told["discovery_date"], told["discovery_source"]) == ("2010-00-00", "paper")
    assert (told["discovered"], told["discovery_reference"]) == ("first paper 2010", "2010NewA...15..175P")


def test_what_was_measured_moves_it_earlier_and_upper_limits_do_not(catalogue: NovaCatalogue) -> None:
    """NC-16: the first detection in a dataset that is valid."""
    known(catalogue)
    lines = light_curve_csv(first=2449746.5).decode().splitlines()
    limit = "V1324 Sco,2449700.5,-46,,>15.00,,V"
    added(catalogue, "\n".join([lines[0], limit, *lines[1:]]).encode())
    nova = _nova(catalogue)
    assert (the_dataset(catalogue).summary or {})["upper_limits"] == 1
    assert (nova.discovery_date, nova.discovery_source) == (day_of(2449746.5), "first observation")
    assert discovery_words(nova) == "first observed 1995-01-29"
    added(catalogue, spectrum_fits(DATE_OBS="1991-02-03"), type=DatasetType.SPECTRA, name="a.fits")
    assert _nova(catalogue).discovery_date == "1991-02-03"
    added(catalogue, spectrum_fits(seed=3, DATE_OBS="1993-02-03"), type=DatasetType.SPECTRA, name="b.fits")
    assert _nova(catalogue).discovery_date == "1991-02-03", "it only moves earlier"


@pytest.mark.parametrize(
    ("summary", "day"),
    [
        (None, None),
        ({"first_detection": "1991-02-03", "time_range": [2449746.5, 2449800.5]}, "1991-02-03"),
        ({"metadata": {"observed_at": "1993-02-03T04:05:06"}}, "1993-02-03"),
        ({"metadata": {"observed_at": "last year"}}, None),
        ({"time_range": [2449746.5, 2449800.5], "upper_limits": 0}, "1995-01-29"),
        ({"time_range": [2449746.5, 2449800.5], "upper_limits": 1}, None),
        ({"time_range": [-46.0, 8.0]}, None),
    ],
)
def test_what_tells_no_day_of_a_detection_dates_nothing(summary: dict[str, Any] | None, day: str | None) -> None:
    """Also of datasets that were judged before the first detection was kept by itself."""
    at = datetime(2037, 3, 1, tzinfo=UTC)
    told: dict[str, Any] = {"nova_id": NOVA_ID, "provider": "p", "created_at": at, "updated_at": at}
    dataset = Dataset(**told, dataset_id=NOVA_ID, dataset_type=DatasetType.PHOTOMETRY, summary=summary)
    assert detected_on(dataset) == day
    found = observation_of(dataset)
    assert (found and found.date) == day


def test_a_dataset_that_is_withdrawn_dates_nothing(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, light_curve_csv(first=2449746.5))
    quarantine.reject(catalogue, NOVA_ID, the_dataset(catalogue).dataset_id, reason="another star", by="ann")
    assert (_nova(catalogue).discovery_date, _nova(catalogue).discovery_source) == (None, None)


def test_a_nova_whose_dataset_is_withdrawn_is_dated_by_what_is_left(catalogue: NovaCatalogue) -> None:
    """By datasets that can be used, and by papers with a year that are about it."""
    known(catalogue)
    store, now = catalogue.store, catalogue.store.clock.now()

    def dataset(day: str, status: ProcessingStatus) -> UUID:
        told: dict[str, Any] = {"summary": {"first_detection": day}, "processing_status": status}
        return new_dataset(store, NOVA_ID, day, **told).dataset_id

    first, second = (dataset(day, ProcessingStatus.COMPLETED) for day in ("1991-02-03", "1993-02-03"))
    dataset("1992-02-03", ProcessingStatus.FAILED_TERMINAL)
    about: dict[str, Any] = {"nova_id": NOVA_ID, "created_at": now, "updated_at": now}
    store.put(Reference(**about, reference_id="a", date="0000-00-00"))
    store.put(Reference(**about, reference_id="b", date="1890-00-00", details={"relevant": False}))
    store.put(Reference(**about, reference_id="c", date="1994-00-00"))

    def withdrawn(dataset_id: UUID) -> tuple[str | None, str | None, str | None]:
        with store.change(by="ann") as change:
            date_anew(change, _nova(catalogue), dataset_id)
        nova = _nova(catalogue)
        return nova.discovery_date, nova.discovery_source, nova.discovery_reference

    with store.change(by="ann") as change:
        move_discovery(change, NOVA_ID, "1991-02-03", source=DiscoverySource.OBSERVATION, about=str(first))
    (dating,) = [each for each in store.find(Dataset.of_nova(nova_id=NOVA_ID)) if each.dataset_id == first]
    store.put(dating.model_copy(update={"processing_status": ProcessingStatus.IN_PROGRESS}))
    assert withdrawn(second) == ("1991-02-03", "first observation", str(first)), "it was not dated by that"
    store.put(dating)
    assert withdrawn(first) == ("1993-02-03", "first observation", str(second))
    store.put(dating.model_copy(update={"processing_status": ProcessingStatus.FAILED_TERMINAL}))
    assert withdrawn(second) == ("1994-00-00", "paper", "c")


def test_whoever_moves_a_date_late_is_refused(catalogue: NovaCatalogue) -> None:
    """By an earlier one that came meanwhile, by what a person has said, and once the nova is merged."""
    known(catalogue)

    def move(date: str) -> None:
        with catalogue.store.change(by="ann") as change:
            move_discovery(change, NOVA_ID, date)

    move("1995-01-29")
    with pytest.raises(Conflict):
        move("1995-01-29")
    nova = _nova(catalogue)
    changes: list[dict[str, Any]] = [{"discovery_source": DiscoverySource.PERSON}, {"status": NovaStatus.MERGED}]
    for changed in changes:
        catalogue.store.put(nova.model_copy(update=changed))
        with pytest.raises(Conflict):
            move("1990-01-29")
    catalogue.store.put(nova)
    move("1990-01-29")
    assert _nova(catalogue).discovery_date == "1990-01-29"


def test_an_index_that_says_it_is_believed_and_one_that_derives_it_is_shown(
    sky: KnownSky, catalogue: NovaCatalogue
) -> None:
    one = nova_object("V1 Sco")
    said, derived = (DiscoveryTold("1939-09-11"),), (DiscoveryTold("1990-05-29", derived=True),)
    sky.names.objects = [_with(one, said), _with(nova_object("V2 Sco"), derived)]
    ann = Astronomer(catalogue)
    first = ann.get(f"/novae/{ann.initialized('V1 Sco')['nova_id']}")
    assert (first["discovery_date"], first["discovery_source"]) == ("1939-09-11", "index")
    second = ann.get(f"/novae/{ann.initialized('V2 Sco')['nova_id']}")
    assert (second["discovery_date"], second["discovery_candidates"]) == (
        None,
        [{"date": "1990-05-29", "source": "known"}],
    )


def _with(found: ResolvedObject, discovered: tuple[DiscoveryTold, ...]) -> ResolvedObject:
    return replace(found, discovered=discovered)


def test_both_forms_of_an_index_tell_dates(tmp_path: Path) -> None:
    (tmp_path / "names").mkdir()
    row = {"name": "BT Mon", "discoverdate": [{"value": "1939/09/11", "derived": True}, {"value": "long ago"}]}
    (tmp_path / "names" / "catalog.min.json").write_text(json.dumps([row]))
    (found,) = LocalIndex("open", tmp_path).resolve("BT Mon").matches
    assert found.discovered == (DiscoveryTold("1939-09-11", derived=True),)
    nova = {"name": "BT Mon", "type": "Nova", "discovery_date": "1939-09-11"}
    (tmp_path / "manifest.json").write_text(json.dumps({"novae": [nova]}))
    (found,) = LocalIndex("own", tmp_path).resolve("BT Mon").matches
    assert found.discovered == (DiscoveryTold("1939-09-11"),)


def test_a_persons_word_stands_above_all_and_is_said_under_a_version(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    ann, path = Astronomer(catalogue), f"/novae/{NOVA_ID}"
    version = ann.get(path)["version_counter"]
    body = {"version_counter": version, "discovery_date": "2012-06-01", "ra_deg": 267.7246, "dec_deg": -32.6223}
    body["why"] = "CBET 3136 says so"
    told = ann.client.patch(f"/api/nc{path}", json=body).json()
    assert (told["discovered"], told["position_source"]) == ("discovered 2012-06-01", "person")
    lines = catalogue.store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    assert "CBET 3136 says so" in [line.details.get("why") for line in lines]
    assert ann.client.patch(f"/api/nc{path}", json=body).json()["type"] == "other-version"
    assert ann.get("/novae/by-position", ra=267.7246, dec=-32.6223)["items"][0]["nova"]["nova_id"] == str(NOVA_ID)
    added(catalogue, light_curve_csv(first=2449746.5).replace(b"V1324 Sco", b"V1324 Sco"))
    assert _nova(catalogue).discovery_date == "2012-06-01"
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED, "it is valid all the same"
    with pytest.raises(OtherVersion, match="by now"):
        corrections.correct(catalogue, NOVA_ID, SaidOfNova(name="Nova Sco 2012"), version=version, by="ann")
    renamed = corrections.correct(catalogue, NOVA_ID, SaidOfNova(name="Nova Sco 2012"), version=None, by="ann")
    assert (renamed.preferred_name, renamed.aliases) == ("Nova Sco 2012", ["V1324 Sco"])


@pytest.mark.parametrize("wrong", ["", "12", "2012-13", "2012-6-1", "2012-02-30", "yesterday", "2012-00-00", "0999"])
def test_what_is_no_date_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidValue, match="YYYY-MM-DD"):
        corrections.whole_date(wrong)
    assert corrections.whole_date("2012-06") == "2012-06-00"


def test_a_nova_is_made_by_hand_once(catalogue: NovaCatalogue) -> None:
    """NC-8, NC-9: with its name, its place and its date, in one commit; no second one of that name or place."""
    ann = Astronomer(catalogue)
    body = {"name": "V9 Sco", "ra_deg": 10.0, "dec_deg": -5.0, "discovery_date": "1890", "aliases": ["Nova Sco 1890"]}
    made = ann.post("/novae/by-hand", body, 201, key="once")
    assert ann.post("/novae/by-hand", body, 201, key="once") == made
    assert (made["discovered"], made["ra_deg"], made["aliases"]) == ("discovered 1890", 10.0, ["Nova Sco 1890"])
    assert ann.get("/novae/by-name", name="nova sco 1890")["items"][0]["nova_id"] == made["nova_id"]
    assert ann.post("/novae/by-hand", {"name": "v9_sco"}, 409)["type"] == "name-taken"
    near = {"name": "V10 Sco", "ra_deg": 10.0, "dec_deg": -5.0}
    assert ann.post("/novae/by-hand", near, 409)["type"] == "name-taken"
    ann.post("/novae/by-hand", {"name": "V11 Sco", "ra_deg": 10.0}, 422)
