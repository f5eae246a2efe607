"""The science of spectra: judged by profiles, normalised to Ångström, written as ECSV and FITS, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.products.ecsv import write_spectrum_ecsv
from penstock.astronomy.products.fits_tables import write_spectrum_fits
from penstock.astronomy.products.plots.failed_plot import plot_failed
from penstock.astronomy.products.plots.observation_words import spectrum_words
from penstock.astronomy.products.plots.spectrum_plot import plot_spectra
from penstock.astronomy.spectra.description import SpectrumDescription
from penstock.astronomy.spectra.judgements import SpectrumJudgement, judge_spectrum
from penstock.astronomy.spectra.profile import ProfileSelection, replay
from penstock.astronomy.spectra.spectrum_hints import SpectrumHints
from penstock.astronomy.spectrum import Spectrum
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import DerivedFile, JudgedFile, Replayed

_HEADER_BYTES = 16_000
MOST_WRITTEN = 100
"Spectra of one file that are written and listed one by one; how many there are is told in any case."


class SpectrumScience:
    """Judges spectra, and makes products of them."""

    version = "spectra-2"

    def judge(self, path: Path, dataset: Dataset) -> JudgedFile:
        """What a file proved to be."""
        judged = judge_spectrum(
            path,
            provider=dataset.provider,
            hints=SpectrumHints.of(dataset.said or {}),
            description=_description(dataset),
        )
        return JudgedFile(
            judged.verdict,
            judged.finding,
            None if judged.selection is None else judged.selection.to_json(),
            judged.header_signature,
            judged.fits_checksum,
            _summary(judged.spectra),
            {"headers": list(judged.headers) or _first_cards(path)},
            judged,
        )

    def products(self, judged: JudgedFile, dataset: Dataset, folder: Path, *, title: str) -> Sequence[DerivedFile]:
        """ECSV and FITS of every spectrum, and one picture of all."""
        spectra: tuple[Spectrum, ...] = judged.contents.spectra
        made: list[DerivedFile] = []
        for number, spectrum in enumerate(spectra[:MOST_WRITTEN], 1):
            stem = "spectrum" if len(spectra) == 1 else f"spectrum-{number:03d}"
            for ending, write in ((".ecsv", write_spectrum_ecsv), (".fits", write_spectrum_fits)):
                path = folder / f"{stem}{ending}"
                write(spectrum, path, provenance=provenance_of(dataset))
                made.append(DerivedFile(path, f"normalized/{path.name}"))
        picture = folder / "preview.png"
        if self.picture(judged, dataset, picture, title=title):
            made.append(DerivedFile(picture, "plots/preview.png"))
        return made

    def picture(self, judged: JudgedFile, dataset: Dataset, path: Path, *, title: str) -> bool:
        """The spectra, or the cards of a file in which none could be read."""
        found: SpectrumJudgement = judged.contents
        if found.spectra:
            subtitle = _subtitle(dataset, found.spectra)
            plot_spectra(found.spectra, path, title=title, subtitle=subtitle, markers=True)
        elif found.finding is not None:
            cards = judged.evidence.get("headers", ())
            told = " · ".join(filter(None, [dataset.provider, dataset.file_name]))
            values, axis = found.stored
            plot_failed(found.finding, path, title=title, subtitle=told, values=values, axis=axis, header=cards)
        else:
            return False
        return True

    def replay(self, dataset: Dataset, path: Path | None) -> Replayed:
        """Choose the profile again from the stored facts."""
        stored = dataset.profile_selection or {}
        now = replay(ProfileSelection.of(stored)).to_json() if stored else {}
        return Replayed(_choice(stored) == _choice(now), _choice(stored), _choice(now))


def provenance_of(dataset: Dataset) -> dict[str, Any]:
    """Where a product comes from."""
    told = {
        "nova_id": str(dataset.nova_id),
        "dataset_id": str(dataset.dataset_id),
        "provider": dataset.provider,
        "provider_identity": dataset.provider_identity,
        "file_name": dataset.file_name,
        "bibcode": dataset.bibcode,
    }
    return {name: value for name, value in told.items() if value is not None}


def told_assumptions(assumptions: Sequence[Assumption]) -> list[dict[str, str]]:
    """What a file did not say and a rule supplied, each once."""
    return list({each.about + each.value: asdict(each) for each in assumptions}.values())


def _description(dataset: Dataset) -> SpectrumDescription | None:
    if dataset.description is None:
        return None
    told = {name: dataset.description.get(name) for name in SpectrumDescription.__slots__}
    span = told["wavelength_range"]
    told["wavelength_range"] = None if span is None else (float(span[0]), float(span[1]))
    return SpectrumDescription(**told)  # type: ignore[arg-type]  # as asdict wrote it


def _summary(spectra: Sequence[Spectrum]) -> dict[str, Any]:
    if not spectra:
        return {}
    first = spectra[0]
    assumptions = told_assumptions([each for spectrum in spectra for each in spectrum.assumptions])
    return {
        "spectra": len(spectra),
        "written": min(len(spectra), MOST_WRITTEN),
        "points": sum(spectrum.wavelength.size for spectrum in spectra),
        "wavelength_range": [
            float(min(spectrum.wavelength[0] for spectrum in spectra)),
            float(max(spectrum.wavelength[-1] for spectrum in spectra)),
        ],
        "wavelength_unit": first.wavelength_unit,
        "flux_unit": first.flux_unit,
        "medium": first.medium.value,
        "frame": first.frame.value,
        "labels": [spectrum.label for spectrum in spectra[:MOST_WRITTEN] if spectrum.label],
        "metadata": {name: value for name, value in first.metadata.items() if _is_plain(value)},
        "assumptions": assumptions,
    }


def _first_cards(path: Path) -> list[str]:
    """The cards of a file whose structure is broken, as far as its first header goes."""
    with path.open("rb") as file:
        text = file.read(_HEADER_BYTES).decode("ascii", "replace")
    if not text.startswith("SIMPLE"):
        return []
    cards = [text[at : at + 80].rstrip() for at in range(0, len(text), 80)]
    return cards[: cards.index("END")] if "END" in cards else cards


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool) and len(str(value)) <= 200


def _subtitle(dataset: Dataset, spectra: Sequence[Spectrum]) -> str:
    """What is known of the observation, who has it, and which file it is of; the label, where there is but one."""
    first = spectra[0] if len(spectra) == 1 else replace(spectra[0], label="")
    return " · ".join(filter(None, [spectrum_words(first), dataset.provider, dataset.file_name]))


def _choice(selection: dict[str, Any]) -> dict[str, Any]:
    return {name: selection.get(name) for name in ("chosen", "version", "candidates")}
