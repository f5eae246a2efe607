"""What viewers draw of a file besides the file: made when it is first asked for, and kept beside it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import msgspec

from penstock.errors import NotFound
from penstock.files.sidecars import Sidecars
from penstock.media.waveform import Waveform, waveform
from penstock.ports.stored_object import StoredObject
from penstock.review.errors import NotAnItem, NotPlotted
from penstock.review.review_item import FILM, ShownFile
from penstock.review.viewer import FilmFacts, Viewer, film_facts

_WAVEFORM, _PLOT = "waveform", "plot"


def film_of(sidecars: Sidecars, file: ShownFile) -> FilmFacts:
    """How many frames a film has, and how fast they follow each other."""
    if file.film is not None:
        return file.film
    stored = _there(file, Viewer.VIDEO)
    return FilmFacts.of(sidecars.facts(stored, FILM, lambda path: asdict(film_facts(path))))


def waveform_of(sidecars: Sidecars, file: ShownFile) -> Waveform:
    """How loud a sound is, or what is heard in a film."""
    stored = _there(file, Viewer.AUDIO, Viewer.VIDEO)

    def make(path: Path) -> bytes:
        return msgspec.json.encode(asdict(waveform(path)))

    return Waveform.of(msgspec.json.decode(sidecars.contents(stored, _WAVEFORM, make)))


def plot_of(sidecars: Sidecars, file: ShownFile) -> bytes:
    """The curves in a file, thinned, as JSON."""
    stored, read = _there(file), file.declared.plot
    if read is None or not file.viewer.draws_curves:
        raise NotPlotted(f"{file.declared.name} is shown as {file.viewer.value}, and has no curves")

    def make(path: Path) -> bytes:
        return msgspec.json.encode(read(path).thinned().to_json())

    return sidecars.contents(stored, _PLOT, make, also=file.declared.plotted_with)


def _there(file: ShownFile, *viewers: Viewer) -> StoredObject:
    if file.stored is None:
        raise NotFound(f"nothing lies where {file.declared.name} should")
    if viewers and file.viewer not in viewers:
        wanted = " or ".join(v.value for v in viewers)
        raise NotAnItem(f"{file.declared.name} is shown as {file.viewer.value}; this is asked of {wanted}")
    return file.stored
