"""Many targets in images, one row for each, and wavelengths in an HDU of their own: DESI."""

from __future__ import annotations

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.image_axis import ImageAxis
from penstock.astronomy.spectra.image_spectra import as_deviation, image_draft
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.quality_flags import quality_flags
from penstock.astronomy.spectra.reading import MOST_SPECTRA, SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Floats, Frame, Medium

_WAVE, _FLUX, _IVAR, _MASK = "_WAVELENGTH", "_FLUX", "_IVAR", "_MASK"


def _arms(facts: SpectrumFacts) -> list[str]:
    names = {hdu.said("EXTNAME") for hdu in facts.structure}
    return sorted(
        name[: -len(_WAVE)] for name in names if name.endswith(_WAVE) and name[: -len(_WAVE)] + _FLUX in names
    )


def _desi(facts: SpectrumFacts) -> list[str]:
    return [f"HDUs {arm}{_WAVE} and {arm}{_FLUX} are there" for arm in _arms(facts)]


@spectrum_profile(
    "desi",
    version=1,
    priority=95,
    recognises=_desi,
    plausible=(3500.0, 10_000.0),
    assumed=(3500.0, 10_000.0),
    providers=("desi",),
)
def read_desi(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Each target in each arm of the spectrograph; the hint target chooses one of them."""
    drafts: list[SpectrumDraft] = []
    targets = _targets(reading)
    for arm, index in _found_arms(reading):
        count = reading.contents.blocks[index].shape[0] if len(reading.contents.blocks[index].shape) == 2 else 1
        if targets and len(targets) != count:
            message = f"FIBERMAP has {len(targets)} targets and {arm}{_FLUX} {count} rows"
            raise UnusableSpectrum("LENGTH_MISMATCH", message)
        drafts += _arm(reading, arm, index, _rows(reading, targets, count))
    if len(drafts) > MOST_SPECTRA:
        raise _too_many(len(drafts))
    return drafts


def _found_arms(reading: SpectrumReading) -> list[tuple[str, int]]:
    names = [(block.cards.said("EXTNAME") or "").upper() for block in reading.contents.blocks]
    arms = [(name[: -len(_FLUX)], index) for index, name in enumerate(names) if name.endswith(_FLUX)]
    return [(arm, index) for arm, index in arms if arm + _WAVE in names and reading.contents.is_image(index)]


def _targets(reading: SpectrumReading) -> list[str]:
    index = reading.hdu_named("FIBERMAP", "SPECOBJ")
    if index is None or not reading.contents.is_table(index):
        return []
    table = reading.contents.table(index)
    column = table.named("TARGETID")
    return table.texts(column) if column is not None else []


def _rows(reading: SpectrumReading, targets: list[str], count: int) -> list[tuple[int, str]]:
    labels = targets or [str(row + 1) for row in range(count)]
    wanted = reading.hints.target
    if wanted is None:
        if count > MOST_SPECTRA:
            raise _too_many(count)
        return list(enumerate(labels))
    found = [(row, label) for row, label in enumerate(labels) if wanted == label]
    if not found and wanted.isdigit() and 1 <= int(wanted) <= count:
        found = [(int(wanted) - 1, labels[int(wanted) - 1])]
    if not found:
        message = f"there is no target {wanted!r}; the first ones are {', '.join(labels[:5])}"
        raise UnusableSpectrum("HINT_CONTRADICTS", message, hint="target")
    return found


def _arm(reading: SpectrumReading, arm: str, index: int, rows: list[tuple[int, str]]) -> list[SpectrumDraft]:
    wave_index = reading.hdu_named(arm + _WAVE)
    assert wave_index is not None
    wave, flux = reading.contents.image(wave_index).ravel(), np.atleast_2d(reading.contents.image(index))
    unit, assumed = reading.axis_unit(("BUNIT", reading.cards(wave_index).text("BUNIT")))
    axis = ImageAxis(wave, unit, assumed)
    errors = _deviations(reading, arm, reading.contents.blocks[index].shape)
    masks = _masks(reading, arm, reading.contents.blocks[index].shape)
    drafts = []
    for row, target in rows:
        error = errors[row] if errors is not None else None
        label = f"target {target} arm {arm}" if len(flux) > 1 else f"arm {arm}"
        draft = image_draft(reading, index, axis, flux[row], uncertainty=error, label=label)
        draft.metadata["target"] = target
        if masks is not None:
            draft.quality = quality_flags(masks[row], profile=reading.profile.name)
        known(reading, draft, medium=Medium.VACUUM, frame=Frame.HELIOCENTRIC)
        drafts.append(draft)
    return drafts


def _deviations(reading: SpectrumReading, arm: str, shape: tuple[int, ...]) -> Floats | None:
    index = reading.hdu_named(arm + _IVAR)
    if index is None or reading.contents.blocks[index].shape != shape:
        return None
    return np.atleast_2d(as_deviation(reading.contents.image(index), "IVAR"))


def _masks(reading: SpectrumReading, arm: str, shape: tuple[int, ...]) -> Floats | None:
    index = reading.hdu_named(arm + _MASK)
    if index is None or reading.contents.blocks[index].shape != shape or not reading.contents.is_image(index):
        return None
    return np.atleast_2d(reading.contents.image(index))


def _too_many(count: int) -> UnusableSpectrum:
    message = f"the file has {count} spectra, and {MOST_SPECTRA} are taken from one: say which with the hint target"
    return UnusableSpectrum("TOO_MANY_SPECTRA", message, spectra=count)
