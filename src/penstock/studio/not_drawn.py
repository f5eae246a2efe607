"""What a prompt names and its picture does not show.

Every word is looked for among those that the plan of the picture has used. What is left, and is no word that joins
sentences or tells a feeling, was asked for and not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from penstock.studio.concept.looks import GARMENTS, HAIR, SKIN
from penstock.studio.concept.somebody import Figure, mentions
from penstock.studio.concept.wish import MATERIALS, MOODS, OWN_NOUNS, WORN
from penstock.studio.drawing.colour import NAMED
from penstock.studio.drawing.palette import PLACES
from penstock.studio.drawing.scene_plan import Plan
from penstock.studio.quiet_words import is_quiet
from penstock.studio.vocabulary import (
    ACTIONS,
    BACKDROPS,
    CAMERAS,
    GROUNDS,
    HAUNTS,
    HOURS,
    MILD_ACTIONS,
    PARTICLES,
    POSTURES,
    PRODUCTS,
    REGIONS,
    SHOTS,
    WEATHERS,
    Meanings,
    spans,
    without,
)

MOST, LONGEST = 20, 40
"So many are told, each in so many characters at most."
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_ALSO_SHOWN: dict[str, tuple[str, ...]] = {
    "rooftop": ("city",),
    "street": ("city",),
    "snow": ("mountains",),
    "harbour": ("sea",),
    "underwater": ("sea",),
    "moon": ("space",),
    "station": ("space",),
    "market": ("village",),
    "castle": ("hills", "mountains"),
    "jungle": ("forest",),
    **dict.fromkeys(("library", "kitchen", "bedroom", "cafe", "classroom"), ("room",)),
}
"Wider places that are seen in a narrower one."
_SHAPE = "tail|wings|fins|scales|fur|feathers|ears|snout|beak|trunk|mane|helmet"


def not_drawn(prompt: str, plan: Plan, figures: Sequence[Figure], *, manner: Iterable[str] = ()) -> list[str]:
    """What of a prompt is not in its picture; ``manner`` are a director's phrases, which nobody asked for."""
    text = without(prompt.lower(), manner)
    text = re.sub(r"(?:palette of|pacing:)[^.]*", lambda found: " " * len(found[0]), text)
    covered = [*_of_place(text, plan), *_of_deeds(text, plan), *_of_looks(text), *_of_things(text, plan)]
    return _left(text, [*covered, *_of_somebody(text, figures)])


def not_portrayed(description: str, figure: Figure) -> list[str]:
    """What of a description is not in a portrait."""
    text = description.lower()
    return _left(text, [*_of_looks(text), *_of_somebody(text, [figure])])


def _left(text: str, covered: Iterable[tuple[int, int]]) -> list[str]:
    seen = bytearray(len(text) + 1)
    for start, stop in covered:
        seen[start:stop] = b"\1" * (stop - start)
    found: list[str] = []
    last = -2
    for match in _WORD.finditer(text):
        word = match[0].strip("'’-")
        if seen[match.start()] or is_quiet(word) or not word:
            continue
        if found and last >= 0 and not text[last : match.start()].strip(" "):
            found[-1] += f" {word}"
        else:
            found.append(word)
        last = match.end()
    return [word[:LONGEST] for word in dict.fromkeys(found)][:MOST]


def _meant(text: str, meanings: Meanings, chosen: Iterable[str | None]) -> Iterator[tuple[int, int]]:
    for meaning in chosen:
        if meaning is not None and meaning in meanings:
            yield from spans(text, meanings[meaning])


def _of_place(text: str, plan: Plan) -> Iterator[tuple[int, int]]:
    places = (plan.place, *_ALSO_SHOWN.get(plan.place, ()))
    for meanings in (BACKDROPS, REGIONS, HAUNTS):
        yield from _meant(text, meanings, places)
    yield from _meant(text, GROUNDS, (plan.ground,))
    # Where no daylight comes the hour is not seen; under the stars it is always night.
    hour = plan.hour if plan.place not in PLACES else None if plan.place == "underwater" else "night"
    yield from _meant(text, HOURS, (hour,))
    yield from _meant(text, WEATHERS, (plan.weather,))
    yield from _meant(text, PARTICLES, (plan.particles,))
    if plan.place in {"moon", "space", "station"}:
        yield from spans(text, "moon|earth|stars|planet|planets")
    if plan.neon:
        yield from spans(text, "neon|cyberpunk|signs|wet")


def _of_deeds(text: str, plan: Plan) -> Iterator[tuple[int, int]]:
    for meanings in (CAMERAS, SHOTS):
        yield from _meant(text, meanings, meanings)
    yield from _meant(text, ACTIONS, (plan.action, "walk"))
    yield from _meant(text, MILD_ACTIONS, MILD_ACTIONS)
    yield from _meant(text, POSTURES, (plan.action,))
    if plan.product is not None:
        yield from _meant(text, PRODUCTS, (plan.product,))


def _of_looks(text: str) -> Iterator[tuple[int, int]]:
    for meanings in (HAIR, GARMENTS, SKIN, WORN, MATERIALS, MOODS, OWN_NOUNS):
        yield from _meant(text, meanings, meanings)
    yield from spans(text, "|".join(NAMED))
    yield from spans(text, _SHAPE)


def _of_things(text: str, plan: Plan) -> Iterator[tuple[int, int]]:
    for word in (*plan.props, *plan.things):
        yield from spans(text, rf"{re.escape(word)}(?:s|es|ing|er)?")
    if "skateboard" in plan.props:
        yield from spans(text, "skater|skaters")


def _of_somebody(text: str, figures: Sequence[Figure]) -> Iterator[tuple[int, int]]:
    """Names of whoever is seen, in whatever word they are called by."""
    names = {name for figure in figures for name in (figure.kind, figure.trade)}
    people = bool(names & {"person", "woman"})
    for each in mentions(text):
        if each.subject.name in names or (people and each.subject.name in {"person", "woman"}):
            yield each.start, each.stop
