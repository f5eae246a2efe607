"""What is known of a product beside its numbers, in words that every format can keep and give back unchanged."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import Any

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import LightCurve, UnreadRow
from penstock.astronomy.spectrum import Spectrum
from penstock.errors import TooLarge

LARGEST = 512 * 1024
"Bytes of notes, as JSON. A whole FITS header fits several times."
_DEEPEST = 16


def spectrum_notes(spectrum: Spectrum, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """All that a spectrum's product tells beside the numbers."""
    return bounded(
        {
            "kind": "spectrum",
            "label": spectrum.label,
            "medium": spectrum.medium.value,
            "frame": spectrum.frame.value,
            "flux_unit": spectrum.flux_unit,
            "source_wavelength_unit": spectrum.wavelength_unit,
            "metadata": spectrum.metadata,
            "assumptions": assumptions(spectrum.assumptions),
            "provenance": provenance,
        }
    )


def light_curve_notes(curve: LightCurve, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """All that a light curve's product tells beside the measurements; rows that were not read are among it."""
    unread = [_unread(row) for row in curve.unread[:100]]
    return bounded(
        {
            "kind": "light curve",
            "time_system": curve.time_system,
            "bands": curve.bands,
            "source": curve.source,
            "assumptions": assumptions(curve.assumptions),
            "rows_not_read": len(curve.unread),
            "rows_not_read_first": unread,
            "provenance": provenance,
        }
    )


def _unread(row: UnreadRow) -> dict[str, Any]:
    told = {"row": row.row, "text": row.text[:200], "why": row.why}
    return told if row.dataset is None else told | {"dataset_id": row.dataset}


def assumptions(made: tuple[Assumption, ...]) -> list[dict[str, str]]:
    """Assumptions as a list that JSON and YAML can tell."""
    return [{"about": one.about, "value": one.value, "why": one.why} for one in made]


def bounded(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Notes of plain values, refused if they are longer than any header ought to be."""
    simple: dict[str, Any] = plain(notes)
    size = len(as_json(simple))
    if size > LARGEST:
        raise TooLarge(f"notes of {size:,} bytes; a product keeps at most {LARGEST:,}: leave out what is long")
    return simple


def as_json(notes: Mapping[str, Any]) -> str:
    """ASCII without the two characters that FITS headers treat in a special way."""
    text = json.dumps(notes, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("'", "\\u0027")


def plain(value: Any, *, depth: int = 0) -> Any:
    """The same, of dicts, lists, texts, numbers, booleans and None only.

    A number that is not finite becomes its word, which every format can tell; half a character (a lone surrogate),
    which no file can hold, becomes a question mark.
    """
    if depth > _DEEPEST:
        raise TooLarge(f"notes nested more than {_DEEPEST} deep")
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(inner, depth=depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, depth=depth + 1) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(inner, depth=depth + 1) for inner in value), key=repr)
    return _single(value)


def _single(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:  # numpy's own numbers
        value = value.item()
    elif hasattr(value, "tolist"):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _text(value.isoformat() if isinstance(value, date) else str(value))


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
