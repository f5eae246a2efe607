"""The light curve of a nova: the measurements of all its tables together, each with where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.astronomy.joined_curve import CurveMember, in_one_system, joined_curve
from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.photometry.time_reading import calendar_date
from penstock.astronomy.products.ecsv import write_light_curve_ecsv
from penstock.astronomy.products.plots.light_curve_plot import plot_light_curve
from penstock.astronomy.sky_position import Position, position_of
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.model import Nova
from penstock.domains.novae.photometry_science import PhotometryScience
from penstock.work.workspace import Workspace


def joined_light_curve(workspace: Workspace, datasets: Sequence[Dataset]) -> LightCurve:
    """All measurements of a nova, in order of time; a table that cannot be read any more is told, not shown."""
    science, members, left_out = PhotometryScience(), list[CurveMember](), list[str]()
    for dataset in datasets:
        curve = _curve(science, workspace, dataset)
        if curve is None:
            left_out.append(str(dataset.dataset_id))
        else:
            members.append(CurveMember(str(dataset.dataset_id), curve, _told(dataset)))
    return joined_curve(members, left_out=left_out)


def write_light_curve(curve: LightCurve, folder: Path, nova: Nova) -> list[Path]:
    """The light curve of a nova as a table and as a picture; in one time system, where its position is known."""
    table, picture = folder / "light_curve.ecsv", folder / "light_curve.png"
    curve = in_one_system(curve, _position(nova))
    write_light_curve_ecsv(curve, table, provenance={"nova_id": str(nova.nova_id), "name": nova.preferred_name})
    tables = curve.source["datasets"]
    plot_light_curve(
        curve,
        picture,
        title=nova.preferred_name,
        subtitle=f"photometry of {tables} {'table' if tables == 1 else 'tables'}",
        began=_began(nova),
    )
    return [table, picture]


def _position(nova: Nova) -> Position | None:
    if nova.ra_deg is None or nova.dec_deg is None:
        return None
    found = position_of(float(nova.ra_deg), float(nova.dec_deg))
    return None if isinstance(found, FileFinding) else found


def _began(nova: Nova) -> float | None:
    """The Julian date of the discovery, if the day is known."""
    return calendar_date(str(nova.discovery_date or ""))


def _told(dataset: Dataset) -> dict[str, Any]:
    told = {"provider": dataset.provider, "file_name": dataset.file_name, "bibcode": dataset.bibcode}
    return {name: value for name, value in told.items() if value is not None}


def _curve(science: PhotometryScience, workspace: Workspace, dataset: Dataset) -> LightCurve | None:
    if dataset.raw_key is None:
        return None
    judged = science.judge(workspace.fetch(dataset.raw_key), dataset)
    if judged.verdict is not FileVerdict.VALID:
        return None
    curve: LightCurve = judged.contents.curve
    return curve
