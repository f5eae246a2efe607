"""Bundles: all products of a nova in one zip with checksums, made again only when something has changed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

from penstock.domains.novae.model import DatasetType, Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import NOVA_ID, added, datasets, discovered, known
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits
from tests.domains.novae.story import Astronomer, later, work, work_through

PATH = f"/novae/{NOVA_ID}/bundle"


def _opened(catalogue: NovaCatalogue) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(catalogue.objects.get(f"bundles/{NOVA_ID}/full.zip").read()))


def test_a_bundle_has_every_product_with_its_checksum(eso: Archive, anywhere: NovaCatalogue) -> None:
    """NC-31: on every engine; files, products, the light curve of all tables, and a manifest."""
    eso.publish("a.fits", spectrum_fits())
    known(anywhere)
    discovered(anywhere)
    added(anywhere, light_curve_csv())
    ann = Astronomer(anywhere)
    assert ann.get(PATH)["fresh"] is False
    assert ann.post(PATH)["task_id"]
    work_through(anywhere)
    told = ann.get(PATH)
    assert told["fresh"] is True
    assert told["bundle"]["name"] == f"bundles/{NOVA_ID}/full.zip"
    with _opened(anywhere) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
        assert {"light_curve.ecsv", "light_curve.png", "manifest.json", "SHA256SUMS"} <= names
        assert sum(name.endswith("spectrum.fits") for name in names) == 1
        for line in archive.read("SHA256SUMS").decode().splitlines():
            digest, name = line.split("  ", 1)
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
    assert {each["dataset_id"] for each in manifest["datasets"]} == {str(d.dataset_id) for d in datasets(anywhere)}
    listed = json.loads(anywhere.objects.get(f"bundles/{NOVA_ID}/manifest.json").read())
    assert listed["sha256"] == told["sha256"]


def test_a_bundle_is_made_again_only_when_something_has_changed(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-36: asked again, the same; with another dataset, or where another object lies, another."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    discovered(catalogue)
    ann = Astronomer(catalogue)
    ann.post(PATH)
    ann.post(PATH)
    work_through(catalogue)
    first = ann.get(PATH)
    later(catalogue, hours=1)
    assert ann.post(PATH)["task_id"] is None
    assert work(catalogue) == 0
    added(catalogue, spectrum_fits(seed=9), name="mine.fits", type=DatasetType.SPECTRA)
    assert ann.get(PATH)["fresh"] is False
    ann.post(PATH)
    work_through(catalogue)
    second = ann.get(PATH)
    assert second["fresh"]
    assert second["sha256"] != first["sha256"]
    catalogue.objects.put(f"bundles/{NOVA_ID}/full.zip", b"of somebody who came late")
    broken = ann.get(PATH)
    assert (broken["fresh"], broken["bundle"]) == (False, None)
    ann.post(PATH)
    work_through(catalogue)
    assert ann.get(PATH)["sha256"] == second["sha256"]


def test_a_nova_without_products_has_a_bundle_that_says_so(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    ann = Astronomer(catalogue)
    ann.post(PATH)
    work_through(catalogue)
    assert (ann.get(PATH)["fresh"], ann.get(PATH)["files"]) == (True, 0)
    with catalogue.store.change() as change:
        nova = change.get(Nova.at(nova_id=NOVA_ID))
        nova.discovery_date = "2012-06-01"
        change.save(nova)
    assert ann.get(PATH)["fresh"] is False
