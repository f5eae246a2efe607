"""Datasets in the review room: their curves, with units and errors, and the quarantine desk."""

from __future__ import annotations

from typing import Any

from penstock.declare.record_address import path_of
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import added, discovered, known, the_dataset
from tests.domains.novae.made_files import in_strange_unit, light_curve_csv, spectrum_fits
from tests.domains.novae.story import Astronomer


def asked(ann: Astronomer, path: str, **params: Any) -> dict[str, Any]:
    answer = ann.client.get(f"/api/review/{path}", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_spectrum_is_drawn_with_its_units(eso: Archive, catalogue: NovaCatalogue) -> None:
    eso.publish("one.fits", spectrum_fits(points=300))
    known(catalogue)
    discovered(catalogue)
    ann, record = Astronomer(catalogue), path_of(the_dataset(catalogue))
    item = asked(ann, "items", record=record)
    assert (item["files"][0]["file"], item["files"][0]["viewer"], item["decisions"]) == ("data", "spectrum", [])
    assert "picture" in {file["viewer"] for file in item["files"]}, "its preview"
    plot = asked(ann, "plot", record=record, file="data")
    (series,) = plot["series"]
    assert (plot["kind"], plot["x"]["unit"], series["total"], len(series["y"])) == ("spectrum", "Å", 300, 300)
    assert series["x"] == sorted(series["x"])


def test_a_light_curve_is_drawn_by_bands_with_the_brightest_at_the_top(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, light_curve_csv(), name="curve.csv")
    plot = asked(Astronomer(catalogue), "plot", record=path_of(the_dataset(catalogue)), file="data")
    assert (plot["kind"], plot["y"]["inverted"], plot["y"]["unit"]) == ("light_curve", True, "mag")
    assert sum(series["total"] for series in plot["series"]) == 12
    assert all(len(series["error"]) == len(series["x"]) for series in plot["series"])


def test_what_waits_at_the_desk_is_cleared_or_rejected_in_the_review_room(
    eso: Archive, anywhere: NovaCatalogue
) -> None:
    eso.publish("odd.fits", in_strange_unit())
    known(anywhere)
    discovered(anywhere)
    ann, dataset = Astronomer(anywhere), the_dataset(anywhere)
    record = {"record": path_of(dataset)}
    groups = {group["key"]: group for group in ann.client.get("/api/work/inbox").json()["groups"]}
    assert [each["look_at"]["path"] for each in groups["novae.0"]["items"]] == [path_of(dataset)]
    item = asked(ann, "items", **record)
    assert (item["files"][0]["file"], item["files"][0]["viewer"]) == ("evidence", "picture")
    assert [(d["decision"], d["reason"]) for d in item["decisions"]] == [
        ("approve", "optional"),
        ("reject", "required"),
    ]
    body = {"decision": "reject", "mark": item["mark"]}
    assert ann.client.post("/api/review/decisions", params=record, json=body).status_code == 422
    done = ann.client.post("/api/review/decisions", params=record, json={**body, "reason": "no spectrum at all"})
    assert done.json()["states"]["processing_status"] == "FAILED_TERMINAL", done.text
    assert anywhere.store.get(dataset.ref).quarantine_details["rejected"] == "no spectrum at all"
