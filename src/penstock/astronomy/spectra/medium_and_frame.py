"""Whether wavelengths are those of air or vacuum, and relative to what: from cards, or as instruments are known."""

from __future__ import annotations

import re

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.reading import ReadingNotes, SpectrumDraft
from penstock.astronomy.spectrum import Frame, Medium

_FRAMES = {
    "TOPOCENT": Frame.OBSERVED,
    "TOPOCENTRIC": Frame.OBSERVED,
    "GEOCENTR": Frame.OBSERVED,
    "OBSERVED": Frame.OBSERVED,
    "HELIOCEN": Frame.HELIOCENTRIC,
    "HELIOCENTRIC": Frame.HELIOCENTRIC,
    "BARYCENT": Frame.BARYCENTRIC,
    "BARYCENTER": Frame.BARYCENTRIC,
    "BARYCENTRIC": Frame.BARYCENTRIC,
    "SOURCE": Frame.REST,
    "REST": Frame.REST,
}
_REDSHIFT = re.compile(r"\s*([+-]?(?>\d+(?:\.\d+)?|\.\d+)(?:[EeDd][+-]?\d{1,3})?)\b")
_OWN_MOTION = 0.002
"A redshift that no motion of the Earth can bring about."


def place(reading: ReadingNotes, draft: SpectrumDraft, *headers: HeaderCards) -> None:
    """Give a draft its medium and frame, where the profile did not; hints fill what the file leaves open."""
    medium = next((found for cards in headers if (found := _medium(cards))), draft.medium)
    frame = next((seen for cards in headers if (seen := _frame(cards))), draft.frame)
    draft.medium = Medium(_with_hint(reading, "medium", medium, Medium))
    draft.frame = Frame(_with_hint(reading, "frame", frame, Frame))
    for cards in headers:
        if (shift := _doppler(cards)) is not None:
            draft.metadata.setdefault("redshift_removed", shift)


def known(
    reading: ReadingNotes, draft: SpectrumDraft, *, medium: Medium | None = None, frame: Frame | None = None
) -> None:
    """What is known of a profile's instrument, flagged as an assumption."""
    name = reading.profile.name
    if medium is not None and draft.medium is Medium.UNKNOWN:
        draft.medium = medium
        reading.assume("medium", medium, f"files of {name} are told in it")
    if frame is not None and draft.frame is Frame.UNKNOWN:
        draft.frame = frame
        reading.assume("frame", frame, f"files of {name} are told so")


def _medium(cards: HeaderCards) -> Medium | None:
    ctype = (cards.said("CTYPE1") or "").upper()
    if ctype[:4] in ("AWAV", "WAVE") and ctype[4:5] in ("", "-"):
        return Medium.AIR if ctype.startswith("A") else Medium.VACUUM
    vacuum = cards.first("VACUUM")
    if isinstance(vacuum, bool) or vacuum in (0, 1):
        return Medium.VACUUM if vacuum else Medium.AIR
    for key in ("AIRORVAC", "VACAIR", "WAVEMED", "LAMBDAMD"):
        word = (cards.said(key) or "").lower()
        if word.startswith(("air", "vac")):
            return Medium.AIR if word.startswith("air") else Medium.VACUUM
    return None


def _frame(cards: HeaderCards) -> Frame | None:
    ctype = (cards.said("CTYPE1") or "").upper()
    if "REST" in ctype:
        return Frame.REST
    if (system := (cards.said("SPECSYS") or "").upper()) in _FRAMES:
        return _FRAMES[system]
    shift = _doppler(cards)
    return Frame.REST if shift is not None and abs(shift) > _OWN_MOTION else None


def _doppler(cards: HeaderCards) -> float | None:
    """The redshift that IRAF's dopcor has taken out of the axis."""
    found = _REDSHIFT.match(cards.said("DOPCOR01") or "")
    return float(found[1].upper().replace("D", "E")) if found else None


def _with_hint(reading: ReadingNotes, name: str, told: str, kind: type[Medium] | type[Frame]) -> str:
    hint = getattr(reading.hints, name)
    if hint is None:
        return told
    if hint not in [one.value for one in kind]:
        words = ", ".join(one.value for one in kind)
        message = f"the hint's {name} {hint!r} is not known: say one of {words}"
        raise UnusableSpectrum("UNKNOWN_HINT", message, hint=name, value=str(hint)[:80])
    if told not in ("unknown", hint):
        message = f"the hint says {hint}, and the file says {told}"
        raise UnusableSpectrum("HINT_CONTRADICTS", message, hint=name)
    reading.assume(name, hint, "a person said so")
    return str(hint)
