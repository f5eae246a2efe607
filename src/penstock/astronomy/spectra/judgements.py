"""The judgement of a spectrum file: what it is, what is in it, or why it cannot be used."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from penstock.astronomy.judgement import Assumption, FileFinding, FileVerdict
from penstock.astronomy.spectra.checksums import checked
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.contents import MOST_BYTES, read_contents
from penstock.astronomy.spectra.description import SpectrumDescription
from penstock.astronomy.spectra.facts import facts_of
from penstock.astronomy.spectra.fits_contents import FitsContents
from penstock.astronomy.spectra.profile import ProfileSelection, SpectrumProfile, select_profile, spectrum_profiles
from penstock.astronomy.spectra.reading import MOST_SPECTRA, SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.spectrum_hints import NO_HINTS, SpectrumHints
from penstock.astronomy.spectra.spectrum_soundness import sound_spectrum
from penstock.astronomy.spectra.stored_numbers import StoredNumbers, stored_numbers
from penstock.astronomy.spectra.text_spectra import text_spectrum
from penstock.astronomy.spectrum import Spectrum

MOST_CARDS = 400
"As many cards of a file are kept as evidence."
_CARDS_OF_EACH = 200
_NOTHING_MEASURED = ("CONSTANT_FLUX", "NON_FINITE_FLUX")
_ERROR_NAME = re.compile(r"[_.-](n?[eE]|(?i:err|errors?|sig|sigma|noise|unc|uncertainty))$")
_ERROR_WORD = re.compile(r"[(\[]\s*(error|sigma|noise)\s*[)\]]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SpectrumJudgement:
    """What a file proved to be, and all that somebody needs who looks into it."""

    verdict: FileVerdict
    spectra: tuple[Spectrum, ...] = ()
    "None of them where the verdict is not VALID."
    finding: FileFinding | None = None
    selection: ProfileSelection | None = None
    "None where no profile had to be chosen: the file is no FITS, or broken."
    header_signature: str | None = None
    fits_checksum: str | None = None
    headers: tuple[str, ...] = ()
    "The first cards of each HDU, or the first lines of a text."
    stored: StoredNumbers = (None, None)
    "Of a file that is not valid, the numbers as far as they could be read: evidence, and no spectrum."


@dataclass(slots=True)
class _Gathered:
    """What was known when a file was refused."""

    selection: ProfileSelection | None = None
    checksum: str | None = None
    headers: tuple[str, ...] = ()
    contents: FitsContents | None = None

    def keep(self, lines: list[str]) -> None:
        """Remember the first lines of a text."""
        self.headers = tuple(lines)

    def judged(
        self, verdict: FileVerdict, spectra: tuple[Spectrum, ...], finding: FileFinding | None
    ) -> SpectrumJudgement:
        signature = self.selection.facts.signature if self.selection else None
        stored = (None, None) if spectra or self.contents is None else _stored(self.contents)
        return SpectrumJudgement(
            verdict, spectra, finding, self.selection, signature, self.checksum, self.headers, stored
        )


def _stored(contents: FitsContents) -> StoredNumbers:
    try:
        return stored_numbers(contents)
    except Exception:  # whatever the file was refused for may stand in the way here too
        return None, None


@np.errstate(all="ignore")  # what is no number any more is found by the checks, and told as what it is
def judge_spectrum(
    path: Path,
    *,
    provider: str | None = None,
    hints: SpectrumHints = NO_HINTS,
    description: SpectrumDescription | None = None,
    most_bytes: int = MOST_BYTES,
) -> SpectrumJudgement:
    """Judge a file by what is in it; never raises for what is wrong with the file.

    ``description`` tells what is in a text table that has no header; FITS files describe themselves.
    """
    gathered = _Gathered()
    try:
        data = read_contents(path, most_bytes=most_bytes)
        if data.startswith(b"SIMPLE"):
            spectra = _of_fits(data, path.name, provider, hints, gathered)
        else:
            spectra = (text_spectrum(data, hints=hints, description=description, gather=gathered.keep),)
        return gathered.judged(FileVerdict.VALID, spectra, None)
    except UnusableSpectrum as refusal:
        return gathered.judged(refusal.verdict, (), refusal.finding)
    except (OSError, MemoryError) as error:
        return gathered.judged(FileVerdict.RETRYABLE_ERROR, (), _machine_failure(error))
    except Exception as error:
        # The promise is that a file, whatever is in it, gets a verdict: what nobody thought of waits for a person.
        message = f"reading it failed in a way that was not foreseen ({type(error).__name__}: {str(error)[:200]})"
        return gathered.judged(FileVerdict.QUARANTINED, (), FileFinding("UNREADABLE", message))


def _machine_failure(error: OSError | MemoryError) -> FileFinding:
    number = error.errno if isinstance(error, OSError) else errno.ENOMEM
    name = errno.errorcode.get(number or 0, type(error).__name__)
    message = f"the file could not be read on this machine ({name}): try again later"
    return FileFinding("MACHINE_FAILURE", message, {"errno": name})


def _of_fits(
    data: bytes, name: str, provider: str | None, hints: SpectrumHints, gathered: _Gathered
) -> tuple[Spectrum, ...]:
    contents = FitsContents(data)
    gathered.headers, gathered.contents = tuple(_headers(contents)), contents
    gathered.selection = select_profile(facts_of(contents, provider=provider, name=name, hints=hints))
    gathered.checksum, stale = checked(contents)
    profile = _chosen(contents, gathered.selection)
    reading = SpectrumReading(profile=profile, hints=hints, name=name, assumptions=stale, contents=contents)
    drafts = _wanted(reading, reading.profile.reads(reading))
    if len(drafts) > MOST_SPECTRA:
        message = f"the file has {len(drafts)} spectra, and {MOST_SPECTRA} are taken from one: say which as aperture"
        raise UnusableSpectrum("TOO_MANY_SPECTRA", message, spectra=len(drafts))
    for draft in drafts:
        _as_error(reading, draft)
    return _sound(reading, drafts)


def _headers(contents: FitsContents) -> list[str]:
    lines: list[str] = []
    for block in contents.blocks:
        lines += block.cards.lines(min(_CARDS_OF_EACH, MOST_CARDS - len(lines)))
        if len(lines) >= MOST_CARDS:
            break
    return lines


def _chosen(contents: FitsContents, selection: ProfileSelection) -> SpectrumProfile:
    if selection.chosen is not None:
        return spectrum_profiles()[selection.chosen]
    wanted = selection.facts.hints.profile
    if not any(contents.is_image(index) or contents.is_table(index) for index in range(len(contents.blocks))):
        _refuse_without_data(contents)
    if wanted is not None:
        message = f"the profile {wanted!r} that was said does not recognise the file, or is none"
        raise UnusableSpectrum("HINT_CONTRADICTS", message, hint="profile")
    raise UnusableSpectrum("UNKNOWN_PROFILE", "no profile recognises the file: it may hold no spectrum at all")


def _refuse_without_data(contents: FitsContents) -> None:
    kinds = [block.kind for block in contents.blocks if block.data_size]
    if "packed image" in kinds:
        message = "its image is packed in tiles (fpack), which is not unpacked here: unpack it first"
        raise UnusableSpectrum("UNSUPPORTED_COMPRESSION", message, compression="fpack")
    if not kinds:
        raise UnusableSpectrum("NO_DATA", "there are headers and no data: the data was cut off, or is in another file")


def _wanted(reading: SpectrumReading, drafts: list[SpectrumDraft]) -> list[SpectrumDraft]:
    """The spectra that the hint aperture names, or all."""
    if not drafts:
        raise UnusableSpectrum("NO_DATA", "nothing in the file is a spectrum")
    wanted = reading.hints.aperture
    if wanted is None:
        return drafts
    word = wanted.strip().lower()
    found = [draft for draft in drafts if word in (draft.label.lower(), draft.label.lower().rpartition(" ")[2])]
    if not found and word.isdigit() and 1 <= int(word) <= len(drafts):
        found = [drafts[int(word) - 1]]
    if not found:
        labels = ", ".join(draft.label for draft in drafts[:9]) or "one without a name"
        message = f"there is no aperture {wanted!r}; there are {labels}"
        raise UnusableSpectrum("HINT_CONTRADICTS", message, hint="aperture")
    return found


def _as_error(reading: SpectrumReading, draft: SpectrumDraft) -> None:
    """An array of errors has an axis like a spectrum and is none: whoever plots it must know."""
    stem = reading.name.removesuffix(".gz").rpartition(".")[0]
    told = str(draft.metadata.get("target", ""))
    why = f"OBJECT says {told!r}" if _ERROR_WORD.search(told) else None
    if why is None and _ERROR_NAME.search(stem):
        why = f"the file is called {reading.name!r}"
    if why is not None:
        draft.metadata["quantity"] = "uncertainty"
        reading.assume("quantity", "uncertainty", f"{why}: these are errors that belong to fluxes in another file")


def _sound(reading: SpectrumReading, drafts: list[SpectrumDraft]) -> tuple[Spectrum, ...]:
    """All spectra that hold something; of several, those that hold nothing are left out and told."""
    sound: list[Spectrum] = []
    left: list[tuple[str, UnusableSpectrum]] = []
    for draft in drafts:
        try:
            sound.append(sound_spectrum(draft, reading.profile, []))
        except UnusableSpectrum as refusal:
            if len(drafts) == 1 or refusal.finding.code not in _NOTHING_MEASURED:
                raise
            left.append((draft.label, refusal))
    if not sound:
        raise left[0][1]
    if left:
        labels = ", ".join(label for label, _ in left)
        reading.assume("left_out", labels, f"nothing was measured in them: {left[0][1].finding.message}")
    shared: tuple[Assumption, ...] = tuple(reading.assumptions)
    return tuple(replace(spectrum, assumptions=(*spectrum.assumptions, *shared)) for spectrum in sound)
