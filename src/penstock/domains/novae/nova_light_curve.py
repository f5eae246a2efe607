"""The light curve of a nova: the measurements of all its tables together, each with where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.products.ecsv import write_light_curve_ecsv
from penstock.astronomy.products.plots.light_curve_plot import plot_light_curve
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.model import Nova
from penstock.domains.novae.photometry_science import PhotometryScience
from penstock.work.workspace import Workspace

MOST_MEASUREMENTS = 1_000_000
_SYSTEMS = {"JD", "HJD", "BJD"}
"Julian dates that differ by minutes; what is counted in another way is not put on the same axis."


def joined_light_curve(workspace: Workspace, datasets: Sequence[Dataset]) -> LightCurve:
    """All measurements of a nova, in order of time; a table whose times cannot be compared is told, not shown."""
    science, points, bands = PhotometryScience(), list[Measurement](), dict[str, str]()
    left_out: list[str] = []
    systems: set[str] = set()
    for dataset in datasets:
        curve = _curve(science, workspace, dataset)
        if curve is None or curve.time_system not in _SYSTEMS:
            left_out.append(str(dataset.dataset_id))
            continue
        systems.add(curve.time_system)
        bands |= curve.bands
        points += [_from(each, dataset) for each in curve.measurements]
    points.sort(key=lambda each: (each.jd, each.band, each.value))
    told = {"datasets": len(datasets) - len(left_out), "left_out": left_out, "time_systems": sorted(systems)}
    system = systems.pop() if len(systems) == 1 else "JD"
    return LightCurve(tuple(points[:MOST_MEASUREMENTS]), time_system=system, bands=bands, source=told)


def write_light_curve(curve: LightCurve, folder: Path, nova: Nova) -> list[Path]:
    """The light curve of a nova as a table and as a picture."""
    table, picture = folder / "light_curve.ecsv", folder / "light_curve.png"
    write_light_curve_ecsv(curve, table, provenance={"nova_id": str(nova.nova_id), "name": nova.preferred_name})
    tables = curve.source["datasets"]
    plot_light_curve(
        curve,
        picture,
        title=nova.preferred_name,
        subtitle=f"photometry of {tables} {'table' if tables == 1 else 'tables'}",
    )
    return [table, picture]


def _curve(science: PhotometryScience, workspace: Workspace, dataset: Dataset) -> LightCurve | None:
    if dataset.raw_key is None:
        return None
    judged = science.judge(workspace.fetch(dataset.raw_key), dataset)
    if judged.verdict is not FileVerdict.VALID:
        return None
    curve: LightCurve = judged.contents.curve
    return curve


def _from(point: Measurement, dataset: Dataset) -> Measurement:
    """A measurement that tells which dataset it is of, where it tells no observer."""
    return point if point.observer else replace(point, observer=f"{dataset.provider}:{dataset.dataset_id}")
