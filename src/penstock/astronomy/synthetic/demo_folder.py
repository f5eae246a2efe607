"""A folder with everything a demonstration needs of a nova: spectra, photometry, and the index that lists them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.astronomy.products.whole_file import whole_file
from penstock.astronomy.synthetic.synthetic_fits import PROFILES, SyntheticObservation, jd_text
from penstock.astronomy.synthetic.synthetic_nova import SyntheticNova, synthetic_nova
from penstock.astronomy.synthetic.synthetic_tables import headed_table, observers_export, ticket, ticketed_table
from penstock.errors import InvalidValue

MANIFEST = "manifest.json"
DEMO_NOVAE = ("V1324 Sco", "V339 Del", "V5668 Sgr")
"Novae that there were; what the demonstration makes of them there was not, and every file says so."
_EPOCHS = {
    "iraf-linear": 2.0, "iraf-log": 9.0, "iraf-multispec": 18.0, "eso-sdp": 40.0, "calspec": 95.0, "no-units": 180.0,
    "unknown-unit": 25.0, "cut-short": 60.0,
}  # fmt: skip
"How many days after maximum each kind of file is observed."


@dataclass(frozen=True, slots=True)
class DemoFile:
    """A file that was made, by its path within the folder."""

    path: str
    sha256: str
    told: dict[str, Any] = field(default_factory=dict)
    "What the index says of it beside."


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """What was made."""

    folder: Path
    nova: SyntheticNova
    spectra: tuple[DemoFile, ...]
    photometry: tuple[DemoFile, ...]
    manifest: Path


def make_demo_folder(folder: Path, *, seed: int, nova_name: str) -> DemoFolder:
    """Make the files of a nova in a folder and list them in its manifest, beside other novae that are there already.

    The same seed and name make the same bytes. Among the spectra are one without units, one in a unit that nobody
    knows, and one that is cut short.
    """
    slug = _slug(nova_name)
    nova = synthetic_nova(nova_name, seed=seed)
    spectra = tuple(_make_spectrum(folder, slug, nova, kind, days) for kind, days in _EPOCHS.items())
    photometry = tuple(_make_photometry(folder, slug, nova))
    manifest = folder / MANIFEST
    _write(manifest, _listed(manifest, _entry(nova, spectra, photometry), _paper(nova)).encode())
    return DemoFolder(folder, nova, spectra, photometry, manifest)


def _slug(name: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not slug or len(name) > 100:
        raise InvalidValue(f"{name[:100]!r} is no name for a nova; write one such as V1324 Sco")
    return slug


def _make_spectrum(folder: Path, slug: str, nova: SyntheticNova, kind: str, days: float) -> DemoFile:
    seen = SyntheticObservation(nova, days, kind)
    path = f"spectra/{slug}/{slug}_day{days:03.0f}_{kind}.fits"
    told = {"id": f"synthetic-{slug}-{days:03.0f}-{kind}", "date": seen.when, "origin": "synthetic"}
    return _made(folder, path, PROFILES[kind](seen), told)


def _make_photometry(folder: Path, slug: str, nova: SyntheticNova) -> list[DemoFile]:
    table, described = f"{slug}_Penstock_optical_Photometry.csv", f"tickets/{slug}_Penstock_optical_Photometry.txt"
    _made(folder, described, ticket(nova, table).encode(), {})
    ticketed = {"id": f"synthetic-{slug}-ticketed", "ticket": described, "origin": "synthetic"}
    return [
        _made(folder, f"photometry/{slug}_AAVSO.csv", observers_export(nova).encode(), _named(slug, "observers")),
        _made(folder, f"photometry/{table}", ticketed_table(nova).encode(), ticketed),
        _made(folder, f"photometry/{slug}_headed.csv", headed_table(nova).encode(), _named(slug, "headed")),
    ]


def _named(slug: str, what: str) -> dict[str, Any]:
    return {"id": f"synthetic-{slug}-{what}", "origin": "synthetic"}


def _made(folder: Path, path: str, content: bytes, told: dict[str, Any]) -> DemoFile:
    _write(folder / path, content)
    return DemoFile(path, hashlib.sha256(content).hexdigest(), told)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)


def _entry(nova: SyntheticNova, spectra: Sequence[DemoFile], photometry: Sequence[DemoFile]) -> dict[str, Any]:
    """What the index says of a nova: the one place that knows the form of a manifest, with `_listed`."""
    return {
        "name": nova.name,
        "aliases": [],
        "type": "Nova",
        "ra": nova.ra,
        "dec": nova.dec,
        "origin": "synthetic: made by Penstock for demonstration",
        "spectra": [{"file": one.path, "sha256": one.sha256, **one.told} for one in spectra],
        "photometry": [{"file": one.path, "sha256": one.sha256, **one.told} for one in photometry],
        "bibcodes": [_bibcode(nova)],
    }


def _paper(nova: SyntheticNova) -> dict[str, Any]:
    title = f"[synthetic] Discovery of {nova.name}: no such paper exists"
    return {
        "bibcode": _bibcode(nova),
        "title": title,
        "author": ["Penstock (synthetic)"],
        "date": _year_and_month(nova),
    }


def _bibcode(nova: SyntheticNova) -> str:
    number = int(hashlib.sha256(nova.name.encode()).hexdigest(), 16) % 10_000
    return f"{jd_text(nova.peak_jd)[:4]}SYNTH.{number:04}...1P"


def _year_and_month(nova: SyntheticNova) -> str:
    return jd_text(nova.peak_jd)[:7]


def _listed(manifest: Path, entry: dict[str, Any], paper: dict[str, Any]) -> str:
    """The manifest with this nova in it, in order of name."""
    told = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {"novae": [], "papers": []}
    novae = [one for one in told["novae"] if one["name"] != entry["name"]] + [entry]
    papers = [one for one in told["papers"] if one["bibcode"] != paper["bibcode"]] + [paper]
    ordered = {
        "novae": sorted(novae, key=lambda one: str(one["name"])),
        "papers": sorted(papers, key=lambda one: str(one["bibcode"])),
    }
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"
