"""The curves of a dataset, as a viewer draws them: spectra over wavelength, brightness over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.spectrum import Spectrum
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import JudgedFile, science_of
from penstock.domains.novae.states import DatasetType
from penstock.review.errors import NotPlotted
from penstock.review.plot import CurvePlot, PlotAxis, PlotSeries
from penstock.review.viewer import Viewer

_MAGNITUDE = "mag"
_LONGEST = 300


def curves_of(dataset: Dataset, path: Path) -> CurvePlot:
    """What was read of a dataset's file, also of one that is in quarantine; NotPlotted if nothing was."""
    judged = science_of(dataset.dataset_type).judge(path, dataset)
    if dataset.dataset_type is DatasetType.SPECTRA:
        spectra: Sequence[Spectrum] = judged.contents.spectra
        if not spectra:
            raise _nothing(judged)
        return spectra_plot(spectra, title=_title(dataset))
    curve: LightCurve | None = judged.contents.curve
    if curve is None or not curve.measurements:
        raise _nothing(judged)
    return light_curve_plot(curve, title=_title(dataset))


def spectra_plot(spectra: Sequence[Spectrum], *, title: str) -> CurvePlot:
    """Flux over wavelength."""
    unit, medium = spectra[0].flux_unit, spectra[0].medium.value
    return CurvePlot(
        Viewer.SPECTRUM.value,
        title,
        PlotAxis("wavelength" if medium == "unknown" else f"wavelength in {medium}", "Å"),
        PlotAxis("flux" if unit else "relative flux", unit),
        tuple(_series(each, unit, number) for number, each in enumerate(spectra, 1)),
        _told([assumption for each in spectra for assumption in each.assumptions]),
    )


def _series(spectrum: Spectrum, unit: str, number: int) -> PlotSeries:
    error = spectrum.uncertainty
    return PlotSeries(
        spectrum.label or f"spectrum {number}",
        spectrum.wavelength.tolist(),
        spectrum.flux.tolist(),
        None if error is None else error.tolist(),
        unit="" if spectrum.flux_unit == unit else spectrum.flux_unit,
    )


def light_curve_plot(curve: LightCurve, *, title: str) -> CurvePlot:
    """Brightness over time, one series a band; magnitudes have their brightest at the top."""
    groups: dict[tuple[str, str], list[Measurement]] = {}
    for point in curve.measurements:
        groups.setdefault((point.band, point.unit), []).append(point)
    unit = curve.measurements[0].unit
    return CurvePlot(
        Viewer.LIGHT_CURVE.value,
        title,
        PlotAxis(f"time ({curve.time_system})", "d"),
        PlotAxis("magnitude" if unit == _MAGNITUDE else "flux", unit, inverted=unit == _MAGNITUDE),
        tuple(_band(name, own, points, unit) for (name, own), points in sorted(groups.items())),
        _told(curve.assumptions),
    )


def _band(name: str, own: str, points: Sequence[Measurement], unit: str) -> PlotSeries:
    return PlotSeries(
        name,
        [point.jd for point in points],
        [point.value for point in points],
        [point.uncertainty for point in points],
        [point.upper_limit for point in points],
        unit="" if own == unit else own,
    )


def _told(assumptions: Sequence[Assumption]) -> tuple[str, ...]:
    """Each once, as a sentence."""
    said = (f"{each.about}: {each.value}, {each.why}"[:_LONGEST] for each in assumptions)
    return tuple(dict.fromkeys(said))[:50]


def _title(dataset: Dataset) -> str:
    return dataset.file_name or f"{dataset.dataset_type.value.lower()} of {dataset.provider}"


def _nothing(judged: JudgedFile) -> NotPlotted:
    why = "" if judged.finding is None else f": {judged.finding.message}"
    return NotPlotted(f"nothing could be read in the file{why}")
