"""What IRAF's onedspec and apextract write, and what others write after them."""

from __future__ import annotations

import re

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum, no_card
from penstock.astronomy.spectra.facts import HduFacts, SpectrumFacts
from penstock.astronomy.spectra.image_axis import ImageAxis, image_axis, units_told
from penstock.astronomy.spectra.image_spectra import image_draft, iraf_rows, spectral_images
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.multispec import ApertureAxis, aperture_axis
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.reading import MOST_SPECTRA, SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.spectral_units import SpectralUnit, spectral_unit
from penstock.astronomy.spectra.wat import wat_attributes
from penstock.astronomy.spectrum import Medium

_GROUND = (900.0, 300_000.0)
_SPEC = re.compile(r"spec\d{1,5}$")


def _system(image: HduFacts) -> str:
    found = re.search(r"SYSTEM\s*=\s*(\w+)", image.said("WAT0_001"))
    return found[1] if found else ""


def _is_log(image: HduFacts) -> bool:
    return image.said("DC-FLAG") == "1" or image.said("CTYPE1") == "LOGLIN"


def _equispec(facts: SpectrumFacts) -> list[str]:
    """Marks of IRAF on an image with a straight axis."""
    image = facts.image
    if image is None or _multispec(facts):
        return []
    marks = {
        f"WAT0 says system={_system(image).lower()}": _system(image) in ("EQUISPEC", "WORLD", "LINEAR", "PHYSICAL"),
        "WAT1 tells the axis": "WAVELENGTH" in image.said("WAT1_001"),
        "DC-FLAG is there": bool(image.said("DC-FLAG")),
        "APNUM1 is there": bool(image.said("APNUM1")),
        "ORIGIN says IRAF": "IRAF" in image.said("ORIGIN"),
    }
    reasons = [mark for mark, seen in marks.items() if seen]
    axis = bool(image.said("CRVAL1") or image.said("COEFF0"))
    return reasons if axis or any("WAT" in reason for reason in reasons) else []


def _linear(facts: SpectrumFacts) -> list[str]:
    return _equispec(facts) if facts.image is not None and not _is_log(facts.image) else []


def _log(facts: SpectrumFacts) -> list[str]:
    if facts.image is None or not _is_log(facts.image) or not (reasons := _equispec(facts)):
        return []
    return [*reasons, "its axis is told as logarithms"]


def _multispec(facts: SpectrumFacts) -> list[str]:
    image = facts.image
    if image is None:
        return []
    marks = {
        "WAT0 says system=multispec": _system(image) == "MULTISPEC",
        "CTYPE1 says MULTISPE": image.said("CTYPE1").startswith("MULTISPE"),
    }
    return [mark for mark, seen in marks.items() if seen]


def _floyds(facts: SpectrumFacts) -> list[str]:
    marks = {
        "INSTRUME is one of FLOYDS": bool(re.match(r"(EN\d\d|FLOYDS)", facts.said("INSTRUME"))),
        "TELESCOP is a 2 m one of LCO": bool(re.match(r"(2M0|FTN|FTS|FARUL|OGG 2M|COJ 2M)", facts.said("TELESCOP"))),
    }
    reasons = [mark for mark, seen in marks.items() if seen]
    return [*reasons, *_equispec(facts)] if len(reasons) == 2 and _equispec(facts) else []


@spectrum_profile("iraf_equispec", version=1, priority=60, recognises=_linear, plausible=_GROUND)
def read_equispec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """One straight axis for all apertures."""
    drafts: list[SpectrumDraft] = []
    for index in spectral_images(reading):
        cards, data = reading.cards(index), reading.contents.image(index)
        if "DC-FLAG" not in cards:
            reading.assume("dispersion_type", "linear", "DC-FLAG is not there")
        axis = image_axis(reading, cards, data.shape[-1])
        drafts += [
            image_draft(reading, index, axis, flux, uncertainty=error, label=label)
            for label, flux, error in iraf_rows(reading, cards, data)
        ]
    return drafts


@spectrum_profile("iraf_equispec_log", version=1, priority=60, recognises=_log, plausible=_GROUND)
def read_log_equispec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """The same, of an axis that is straight in the logarithm."""
    return read_equispec(reading)


@spectrum_profile(
    "floyds", version=1, priority=80, recognises=_floyds, plausible=(2900.0, 11_500.0), providers=("lco",)
)
def read_floyds(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Las Cumbres Observatory's FLOYDS pipeline."""
    drafts = read_equispec(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.AIR)
    return drafts


@spectrum_profile("iraf_multispec", version=1, priority=90, recognises=_multispec, plausible=_GROUND)
def read_multispec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """An axis of its own for each aperture."""
    indices = spectral_images(reading)
    if not indices:
        raise UnusableSpectrum("NO_DATA", "there is no image that the multispec cards could be about")
    cards, data = reading.cards(indices[0]), reading.contents.image(indices[0])
    if data.ndim > 3:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", f"the image has {data.ndim} axes, and multispec knows three")
    count = data.shape[-2] if data.ndim > 1 else 1
    unit, assumed = _aperture_unit(reading, cards)
    rows = iraf_rows(reading, cards, data, numbered=True)
    drafts = []
    for axis, (_, flux, error) in zip(_axes(reading, cards, count, data.shape[-1]), rows, strict=True):
        many = axis.points
        values = ImageAxis(axis.wavelengths[:many], unit, assumed)
        uncertainty = None if error is None else error[:many]
        label = f"aperture {axis.aperture}" if count > 1 else ""
        draft = image_draft(reading, indices[0], values, flux[:many], uncertainty=uncertainty, label=label)
        if axis.doppler:
            draft.metadata["redshift_removed"] = axis.doppler
        drafts.append(draft)
    return drafts


def _aperture_unit(reading: SpectrumReading, cards: HeaderCards) -> tuple[SpectralUnit, bool]:
    """WAT1 tells it. Other cards are about pixels, so only what is a spectral unit all the same counts of them."""
    told = units_told(cards)
    return reading.axis_unit(*(each for each in told if each[0] == "WAT1_001" or spectral_unit(each[1] or "")))


def _axes(reading: SpectrumReading, cards: HeaderCards, count: int, length: int) -> list[ApertureAxis]:
    attributes = wat_attributes(cards, 2)
    specs = {name: text for name, text in attributes.items() if _SPEC.match(name)}
    if count > MOST_SPECTRA:
        message = f"the image has {count} apertures, and {MOST_SPECTRA} are taken from one file"
        raise UnusableSpectrum("TOO_MANY_SPECTRA", message, spectra=count)
    shift, step = _physical(reading, cards)
    axes = []
    for number in range(1, count + 1):
        if (text := specs.get(f"spec{number}")) is None:
            raise no_card(f"WAT2_ spec{number}", why=f"row {number} of the image has no axis")
        axes.append(aperture_axis(text, length=length, shift=shift, step=step))
    return axes


def _physical(reading: SpectrumReading, cards: HeaderCards) -> tuple[float, float]:
    """The way from pixels of the image to those that the functions were made for."""
    shift, step = cards.number("LTV1"), cards.number("LTM1_1")
    if step == 0.0:
        raise UnusableSpectrum("BAD_CARD", "LTM1_1 is zero", card="LTM1_1")
    if shift is None or step is None:
        gone = " and ".join(key for key, told in (("LTV1", shift), ("LTM1_1", step)) if told is None)
        reading.assume("physical_pixel", "the image's own", f"{gone} not being there, no part was cut out of the image")
    return shift or 0.0, step or 1.0
