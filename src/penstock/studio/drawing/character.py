"""Who somebody is, from the words that describe them. The same words make the same character in every scene."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.studio.concept.somebody import Figure, figure_of, mentions
from penstock.studio.drawing.colour import NAMED
from penstock.studio.drawing.handheld_things import Prop
from penstock.studio.drawing.puppet import Puppet
from penstock.studio.vocabulary import BACKDROPS, CAMERAS, HOURS, PARTICLES, REGIONS, SHOTS, WEATHERS, spans


@dataclass(frozen=True, slots=True)
class Character:
    """Somebody, by a description and a seed for what it leaves open."""

    description: str
    seed: int
    kind: str
    "What they are: a person, a cat, a robot."
    trade: str
    "What they do or wear, if that has a name."

    def figure(self, *, mood: str | None = None) -> Figure:
        return figure_of(self.description, seed=self.seed, mood=mood)

    def puppet(self, action: str, props: tuple[Prop, ...] = ()) -> Puppet:
        """The character in a movement, with things in hand."""
        return Puppet(self.figure(), self.figure(mood="sleepy").draft, action, props)


def character(description: str, *, prompt: str = "", seed: int = 0) -> Character:
    """Somebody who fits a description; if it does not say what they are, the prompt does, and else it is a person."""
    text = " ".join(description.lower().split())
    if not mentions(text):
        text = f"{text} {_somebody(prompt.lower()) or 'person'}".strip()
    figure = figure_of(text, seed=seed)
    return Character(text, seed, figure.kind, figure.trade)


def character_in(prompt: str) -> Character:
    """The one a prompt is about, if nobody describes them otherwise; a green forest makes nobody green."""
    text = prompt.lower()
    for elsewhere in (BACKDROPS, REGIONS, HOURS, WEATHERS, PARTICLES, CAMERAS, SHOTS):
        for words in elsewhere.values():
            for start, stop in spans(text, words):
                first = _with_colours(text, start)
                text = f"{text[:first]}{',':{stop - first}}{text[stop:]}"
    return character(text.strip(" ,.;:!"))


def _with_colours(text: str, start: int) -> int:
    """Where the colours begin that stand before a word."""
    while (before := text[:start].rstrip().rpartition(" ")[2]) in NAMED:
        start = text.rindex(before, 0, start)
    return start


def _somebody(text: str) -> str | None:
    """The words of a text that say who it is about."""
    found = mentions(text)
    if not found:
        return None
    first = found[0]
    after = [each for each in found[1:] if not text[first.stop : each.start].strip(" -")]
    return text[first.start : after[0].stop if after else first.stop]
