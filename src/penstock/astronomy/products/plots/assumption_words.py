"""What was assumed of a file, and what could not be read of it, in words for people who know no program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.light_curve import UnreadRow

_NAMES = {"Angstrom": "Ångström", "unknown": "not known"}
_MOST_WORDS = 160


def assumed_words(assumptions: Iterable[Assumption]) -> list[str]:
    """A sentence for each, and each once."""
    return list(dict.fromkeys(_sentence(one) for one in assumptions))


def _sentence(one: Assumption) -> str:
    special = _SENTENCES.get(one.about)
    if special is not None:
        return special(one)
    what, value = one.about.replace("_", " "), _NAMES.get(one.value, one.value)
    return f"{what} taken as {value}: {_reason(one)}" if value else f"{what}: {_reason(one)}"


def _reason(one: Assumption) -> str:
    return one.why[:_MOST_WORDS]


def _of_its_kind(one: Assumption, taken: str) -> str:
    """Something that is known of a pipeline, or was said by a person."""
    if one.why.startswith("files of "):
        return f"{taken}, as this pipeline's files are"
    return f"{taken}, as a person said" if one.why == "a person said so" else f"{taken}: {_reason(one)}"


def _flux_unit(one: Assumption) -> str:
    if not one.value:
        return "the file tells no unit of flux: shown as relative"
    return _of_its_kind(one, f"flux taken as in {one.value}")


_SENTENCES: dict[str, Callable[[Assumption], str]] = {
    "medium": lambda one: _of_its_kind(one, f"wavelengths taken as in {one.value}"),
    "frame": lambda one: _of_its_kind(one, f"wavelengths taken as {one.value}"),
    "wavelength_unit": lambda one: _of_its_kind(one, f"wavelengths taken as in {_NAMES.get(one.value, one.value)}"),
    "flux_unit": _flux_unit,
    "columns": lambda one: f"columns taken as {one.value}, as in most tables without names",
    "time_scale": lambda one: _reason(one),
    "time_system": lambda one: _of_its_kind(one, f"times taken as {one.value}"),
}


def unread_words(unread: Sequence[UnreadRow]) -> list[str]:
    """How many rows are not shown, and the commonest reason."""
    if not unread:
        return []
    [(why, count)] = Counter(row.why for row in unread).most_common(1)
    rows = "1 row of the table" if len(unread) == 1 else f"{len(unread):,} rows of the table"
    share = "reason" if count == len(unread) else "most often"
    return [
        f"{rows} could not be read and {'is' if len(unread) == 1 else 'are'} not shown ({share}: {why[:_MOST_WORDS]})"
    ]
