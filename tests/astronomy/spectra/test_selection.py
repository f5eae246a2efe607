"""The choice of a profile: deterministic, stored with all it rests on, and replayable; and what hints may do."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.spectra import (
    ProfileSelection,
    SpectrumHints,
    SpectrumJudgement,
    judge_spectrum,
    replay,
    spectrum_profiles,
)
from penstock.astronomy.spectra.profile import spectrum_profile
from tests.astronomy.spectra.fits_bytes import fluxes, image
from tests.astronomy.spectra.made_spectra import MADE


def judged(tmp_path: Path, data: bytes, *, name: str = "primary.fits", **said: str) -> SpectrumJudgement:
    """The judgement of a file of these bytes, with these hints."""
    path = tmp_path / name
    path.write_bytes(data)
    return judge_spectrum(path, hints=SpectrumHints(**said))


def refused(found: SpectrumJudgement) -> str:
    """The code of what was refused."""
    assert found.finding is not None, found
    return found.finding.code


@pytest.mark.parametrize("name", MADE)
def test_a_stored_selection_is_replayed_to_the_same_choice(name: str, tmp_path: Path) -> None:
    """NC-37"""
    selection = judged(tmp_path, MADE[name]().data).selection
    assert selection is not None
    stored = ProfileSelection.of(json.loads(json.dumps(selection.to_json())))
    assert stored == selection
    assert replay(stored) == selection
    assert selection.candidates[0].name == selection.chosen
    assert selection.candidates[0].reasons
    assert selection.version == spectrum_profiles()[selection.chosen or ""].version


def test_the_signature_is_that_of_the_kind_of_file_and_not_of_the_file(tmp_path: Path) -> None:
    """NC-26: longer, and of another night, it is the same; of another instrument it is another."""
    short, long, other = (
        judged(tmp_path, image(fluxes(count), {"INSTRUME": who, "CRVAL1": 4000.0, "CDELT1": 1.0, "DATE-OBS": when}))
        for count, who, when in ((50, "A", "2001-01-01"), (70, "A", "2002-02-02"), (50, "B", "2001-01-01"))
    )
    assert short.header_signature == long.header_signature != other.header_signature
    assert len(short.header_signature or "") == 64


def test_a_provider_is_one_more_reason(tmp_path: Path) -> None:
    """NC-37"""
    path = tmp_path / "one.fits"
    path.write_bytes(MADE["uves"]().data)
    without, with_it = judge_spectrum(path).selection, judge_spectrum(path, provider="ESO").selection
    assert without is not None
    assert with_it is not None
    assert with_it.candidates[0].score == without.candidates[0].score + 1
    assert "it comes from eso" in with_it.candidates[0].reasons


def test_the_profile_that_is_said_is_taken_if_it_recognises_the_file(tmp_path: Path) -> None:
    assert judged(tmp_path, MADE["uves"]().data, profile="plain_image").verdict is FileVerdict.VALID
    assert refused(judged(tmp_path, MADE["uves"]().data, profile="desi")) == "HINT_CONTRADICTS"
    assert refused(judged(tmp_path, MADE["uves"]().data, profile="nothing")) == "HINT_CONTRADICTS"


def test_a_unit_that_is_said_fills_what_the_file_leaves_open_and_denies_nothing(tmp_path: Path) -> None:
    data = image(fluxes(), {"CRVAL1": 400.0, "CRPIX1": 1.0, "CDELT1": 1.0})
    assert refused(judged(tmp_path, data)) == "IMPLAUSIBLE_RANGE"
    found = judged(tmp_path, data, unit="nm")
    assert found.verdict is FileVerdict.VALID
    assert found.spectra[0].wavelength[0] == 4000.0
    assert ("wavelength_unit", "a person said so") in [(one.about, one.why) for one in found.spectra[0].assumptions]
    assert refused(judged(tmp_path, MADE["equispec"]().data, unit="nm")) == "HINT_CONTRADICTS"
    assert refused(judged(tmp_path, data, unit="furlong")) == "UNKNOWN_HINT"


def test_a_unit_nobody_knows_is_cleared_by_a_hint(tmp_path: Path) -> None:
    data = image(fluxes(), {"CRVAL1": 4000.0, "CDELT1": 1.0, "BUNIT": "flubber/s"})
    assert refused(judged(tmp_path, data)) == "UNKNOWN_UNIT"
    found = judged(tmp_path, data, flux_unit="erg/cm2/s/A")
    assert found.spectra[0].flux_unit == "erg Angstrom-1 s-1 cm-2"
    assert refused(judged(tmp_path, MADE["equispec"]().data, flux_unit="Jy")) == "HINT_CONTRADICTS"
    assert refused(judged(tmp_path, data, flux_unit="flubber")) == "UNKNOWN_HINT"


@pytest.mark.parametrize(("said", "label"), [("aperture 2", "aperture 2"), ("1", "aperture 1")])
def test_an_aperture_that_is_said_is_the_only_one_that_is_taken(said: str, label: str, tmp_path: Path) -> None:
    found = judged(tmp_path, MADE["equispec_apertures"]().data, aperture=said)
    assert [one.label for one in found.spectra] == [label]
    assert refused(judged(tmp_path, MADE["equispec_apertures"]().data, aperture="9")) == "HINT_CONTRADICTS"


def test_a_target_that_is_said_is_the_only_one_that_is_taken(tmp_path: Path) -> None:
    found = judged(tmp_path, MADE["desi"]().data, target="39629")
    assert {one.metadata["target"] for one in found.spectra} == {"39629"}
    assert refused(judged(tmp_path, MADE["desi"]().data, target="40000")) == "HINT_CONTRADICTS"
    assert refused(judged(tmp_path, MADE["desi"]().data, target="39627")) == "CONSTANT_FLUX"


def test_medium_and_frame_are_said_where_the_file_does_not_say_them(tmp_path: Path) -> None:
    found = judged(tmp_path, MADE["equispec"]().data, medium="air", frame="observed").spectra[0]
    assert (found.medium, found.frame) == ("air", "observed")
    assert {"medium", "frame"} <= {one.about for one in found.assumptions}
    assert refused(judged(tmp_path, MADE["extension_image"]().data, medium="vacuum")) == "HINT_CONTRADICTS"
    assert refused(judged(tmp_path, MADE["equispec"]().data, medium="water")) == "UNKNOWN_HINT"


def test_hints_are_stored_with_the_selection(tmp_path: Path) -> None:
    """NC-37"""
    selection = judged(tmp_path, MADE["uves"]().data, profile="plain_image").selection
    assert selection is not None
    assert selection.to_json()["inputs"]["hints"] == {"profile": "plain_image"}
    assert replay(selection).chosen == "plain_image"
    assert SpectrumHints.of({"unit": "nm", "nonsense": 1, "target": None}) == SpectrumHints(unit="nm")
    assert replay(replace(selection, facts=replace(selection.facts, hints=SpectrumHints()))).chosen == "uves_pipeline"


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        spectrum_profile("desi", version=1, priority=1, recognises=lambda facts: [])(lambda reading: [])


def test_an_array_of_errors_is_told_to_be_one(tmp_path: Path) -> None:
    """A file of errors has an axis like a spectrum: whoever plots it as a flux must be told."""
    by_name = judged(tmp_path, MADE["equispec"]().data, name="V1324_Sco_err.fits").spectra[0]
    by_object = judged(tmp_path, MADE["equispec"]().data.replace(b"V1324 Sco", b"Sco (Err)")).spectra[0]
    assert by_name.metadata["quantity"] == "uncertainty"
    assert "quantity" in {one.about for one in by_name.assumptions}
    assert "quantity" not in by_object.metadata
    whole = image(fluxes(), {"CRVAL1": 4000.0, "CDELT1": 1.0, "OBJECT": "q0100 (Error) [div]"})
    assert judged(tmp_path, whole).spectra[0].metadata["quantity"] == "uncertainty"


def test_judging_in_many_threads_gives_what_judging_in_one_does(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}

    def work(number: int) -> None:
        path = tmp_path / f"{number}"
        path.mkdir()
        found[str(number)] = [str(judged(path, make().data).verdict) for make in MADE.values()]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [["VALID"] * len(MADE)] * 4
