"""The science of photometry: tables judged by a ticket or by their form, written as ECSV and FITS, and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.photometry.photometry_hints import PhotometryHints, hints_of
from penstock.astronomy.photometry.photometry_judgement import PhotometryJudgement, judge_photometry, replay_photometry
from penstock.astronomy.products.ecsv import write_light_curve_ecsv
from penstock.astronomy.products.fits_tables import write_light_curve_fits
from penstock.astronomy.products.plots.failed_plot import plot_failed
from penstock.astronomy.products.plots.light_curve_plot import plot_light_curve
from penstock.astronomy.products.plots.observation_words import curve_words
from penstock.astronomy.ticket import PhotometryTicket, read_ticket
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import DerivedFile, JudgedFile, Replayed
from penstock.domains.novae.spectrum_science import provenance_of, told_assumptions
from penstock.domains.novae.storable import storable

MOST_SHOWN = 50
"Rows that could not be read are all counted, and so many of them shown."
MOST_BANDS = 100


class PhotometryScience:
    """Judges tables of photometry, and makes products of them."""

    version = "photometry-2"

    def judge(self, path: Path, dataset: Dataset) -> JudgedFile:
        """What a table proved to be."""
        ticket, hints = _ticket(dataset), _hints(dataset)
        if isinstance(ticket, FileFinding):
            return _refused(ticket)
        if isinstance(hints, FileFinding):
            return _refused(hints)
        judged = judge_photometry(path, ticket=ticket, hints=hints)
        return JudgedFile(
            judged.verdict,
            judged.finding,
            judged.recognition,
            summary=_summary(judged.curve),
            evidence={"first_lines": _first_lines(path)},
            contents=judged,
        )

    def products(self, judged: JudgedFile, dataset: Dataset, folder: Path, *, title: str) -> Sequence[DerivedFile]:
        """The light curve as ECSV and FITS, and a picture of it."""
        curve: LightCurve = judged.contents.curve
        made = []
        for name, write in (("light_curve.ecsv", write_light_curve_ecsv), ("light_curve.fits", write_light_curve_fits)):
            write(curve, folder / name, provenance=provenance_of(dataset))
            made.append(DerivedFile(folder / name, f"normalized/{name}"))
        if self.picture(judged, dataset, folder / "preview.png", title=title):
            made.append(DerivedFile(folder / "preview.png", "plots/preview.png"))
        return made

    def picture(self, judged: JudgedFile, dataset: Dataset, path: Path, *, title: str) -> bool:
        """The light curve as far as it was read, or why nothing was."""
        found: PhotometryJudgement = judged.contents
        if found.curve is not None and found.curve.measurements:
            told = [curve_words(found.curve), dataset.provider, dataset.file_name]
            plot_light_curve(found.curve, path, title=title, subtitle=" · ".join(filter(None, told)))
        elif found.finding is not None:
            lines = judged.evidence.get("first_lines", ())
            plot_failed(found.finding, path, title=title, subtitle=dataset.provider, header=lines)
        else:
            return False
        return True

    def replay(self, dataset: Dataset, path: Path | None) -> Replayed:
        """Recognise the table again, from the file and what the record says went into it."""
        stored = dict(dataset.profile_selection or {})
        now = storable(replay_photometry(path, stored).recognition) if path is not None and "inputs" in stored else {}
        return Replayed(stored == now, stored, now)


def _refused(finding: FileFinding) -> JudgedFile:
    """What is said of a table cannot be understood, so nobody has looked at it."""
    nothing = PhotometryJudgement(FileVerdict.QUARANTINED, None, finding)
    return JudgedFile(FileVerdict.QUARANTINED, finding, contents=nothing)


def _ticket(dataset: Dataset) -> PhotometryTicket | FileFinding | None:
    if not dataset.ticket:
        return None
    ticket = read_ticket(dataset.ticket)
    if isinstance(ticket, PhotometryTicket | FileFinding):
        return ticket
    said = "This ticket describes spectra, and the file was given as photometry. Give the ticket of this table."
    return FileFinding("BAD_TICKET", said)


def _hints(dataset: Dataset) -> PhotometryHints | FileFinding:
    # What the object is, is for whoever compares it with the nova.
    return hints_of({name: value for name, value in (dataset.said or {}).items() if name != "object"})


def _summary(curve: LightCurve | None) -> dict[str, Any]:
    if curve is None:
        return {}
    points = curve.measurements
    return {
        "rows": len(points),
        "unread": len(curve.unread),
        "unread_rows": [asdict(each) for each in curve.unread[:MOST_SHOWN]],
        "upper_limits": sum(each.upper_limit for each in points),
        "bands": _bands(points),
        "different_bands": len({each.band for each in points}),
        "band_words": dict(list(curve.bands.items())[:100]),
        "units": sorted({each.unit for each in points}),
        "time_system": curve.time_system,
        "time_range": [points[0].jd, points[-1].jd] if points else None,
        "source": {name: str(value)[:300] for name, value in curve.source.items()},
        "assumptions": told_assumptions(curve.assumptions),
    }


def _bands(points: Sequence[Measurement]) -> dict[str, int]:
    """How many points each band has; of a table with a band of its own for each row, the most frequent ones."""
    counted = Counter(each.band for each in points).most_common(MOST_BANDS)
    return dict(sorted((band, count) for band, count in counted))


def _first_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.read(4096).decode("utf-8", "replace").splitlines()[:20]
