"""SSML, the part of it that everybody uses: a text between ``<speak>`` and ``</speak>``, with marks of how to say it.

What is not understood is refused, with its place; nothing of the markup is ever read aloud.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn
from xml.parsers import expat

from penstock.media.speech.errors import BadMarkup
from penstock.media.speech.say_as import said_as

ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "speak": frozenset({"version", "xml:lang", "xml:base", "xmlns", "xmlns:xsi", "xsi:schemaLocation"}),
    "p": frozenset({"xml:lang"}),
    "s": frozenset({"xml:lang"}),
    "break": frozenset({"time", "strength"}),
    "emphasis": frozenset({"level"}),
    "prosody": frozenset({"rate", "volume"}),
    "say-as": frozenset({"interpret-as", "format"}),
    "sub": frozenset({"alias"}),
}
"What is understood."
_OTHERS = ("audio", "voice", "phoneme", "lang", "mark", "w", "token", "lexicon", "lookup", "meta", "metadata", "desc")
_TAG = re.compile(rf"</?({'|'.join(map(re.escape, (*ATTRIBUTES, *_OTHERS)))}|[a-z]+:[a-z-]+)(\s[^<>]*)?/?>", re.I)
"Anything that somebody who writes SSML might mean, in a text that is none."

STRENGTHS = {"none": 0.0, "x-weak": 0.1, "weak": 0.25, "medium": 0.5, "strong": 0.8, "x-strong": 1.2}
RATES = {"x-slow": 0.6, "slow": 0.8, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.6}
VOLUMES = {"silent": -120.0, "x-soft": -12.0, "soft": -6.0, "medium": 0.0, "default": 0.0, "loud": 4.0, "x-loud": 8.0}
LEVELS = {"strong": (0.85, 3.0), "moderate": (0.92, 1.5), "none": (1.0, 0.0), "reduced": (1.05, -3.0)}
"How fast and how loud it is said."
LONGEST_BREAK = 10.0
"Seconds."
SLOWEST, FASTEST = 0.5, 2.0
"Beyond these nobody understands a voice."
_PARAGRAPH, _SENTENCE = 0.5, 0.25
"Seconds between two of them."
_TIME = re.compile(r"\+?(\d{1,6}(?:\.\d{1,3})?)(ms|s)")
_PERCENT = re.compile(r"([+-]?)(\d{1,4}(?:\.\d{1,3})?)%")
_DECIBELS = re.compile(r"([+-]?\d{1,3}(?:\.\d{1,3})?)dB")


@dataclass(frozen=True, slots=True)
class Said:
    """Something to say: so many times as fast as usual, and by so many decibels louder."""

    text: str
    rate: float = 1.0
    volume: float = 0.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing, for a while."""

    seconds: float


def is_ssml(text: str) -> bool:
    """Does a text say that it is SSML?"""
    return re.match(r"\s*(<\?xml[^>]*>\s*)?<speak[\s/>]", text) is not None


def check_no_markup(text: str) -> None:
    """BadMarkup where a text that is no SSML has some in it."""
    found = _TAG.search(text)
    if found is not None:
        raise BadMarkup(
            f"there is {found.group()[:60]} in the text, which is markup; put the whole text in <speak>…</speak>, or "
            "leave it out"
        )


def read_ssml(text: str) -> tuple[tuple[Said | Pause, ...], frozenset[str]]:
    """What is to be said, and in which languages it is written; BadMarkup for what cannot be followed."""
    return _Reader().read(text)


@dataclass(frozen=True, slots=True)
class _Style:
    """How something is said, within the elements around it."""

    element: str
    rate: float = 1.0
    volume: float = 0.0
    interpret: str | None = None
    format: str | None = None
    alias: str | None = None


class _Reader:
    """Reads a document from its beginning to its end."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._hear
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._styles: list[_Style] = []
        self._parts: list[Said | Pause] = []
        self._languages: set[str] = set()
        self._heard: list[str] = []
        self._gap = 0.0
        "Seconds that are due before what is said next, if something was said before."

    def read(self, text: str) -> tuple[tuple[Said | Pause, ...], frozenset[str]]:
        try:
            self._parser.Parse(text, True)
        except expat.ExpatError as error:
            told = expat.errors.messages[error.code]
            raise BadMarkup(
                f"line {error.lineno}, column {error.offset + 1}: the SSML is not well-formed: {told}; write & as "
                "&amp; and < as &lt;, and close every element"
            ) from None
        return tuple(self._parts), frozenset(self._languages)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._check(name, attributes)
        self._flush()
        self._languages |= {attributes["xml:lang"]} if "xml:lang" in attributes else set()
        around = replace(self._styles[-1], element=name) if self._styles else _Style(name)
        begin = getattr(self, f"_start_{name.replace('-', '_')}", None)
        self._styles.append(begin(attributes, around) if begin is not None else around)

    def _end(self, name: str) -> None:
        self._flush()
        self._styles.pop()
        if name in ("p", "s"):
            self._gap = max(self._gap, _PARAGRAPH if name == "p" else _SENTENCE)

    def _hear(self, text: str) -> None:
        self._heard.append(text)

    # Elements

    def _start_p(self, attributes: dict[str, str], style: _Style) -> _Style:
        self._gap = max(self._gap, _PARAGRAPH)
        return style

    def _start_break(self, attributes: dict[str, str], style: _Style) -> _Style:
        seconds = self._chosen("break", "strength", attributes.get("strength", "medium"), STRENGTHS)
        if "time" in attributes:
            seconds = self._time(attributes["time"])
        self._parts.append(Pause(seconds))
        return style

    def _start_emphasis(self, attributes: dict[str, str], style: _Style) -> _Style:
        rate, volume = self._chosen("emphasis", "level", attributes.get("level", "moderate"), LEVELS)
        return self._styled(style, rate, volume)

    def _start_prosody(self, attributes: dict[str, str], style: _Style) -> _Style:
        rate = self._rate(attributes["rate"]) if "rate" in attributes else 1.0
        volume = self._volume(attributes["volume"]) if "volume" in attributes else 0.0
        return self._styled(style, rate, volume)

    def _start_say_as(self, attributes: dict[str, str], style: _Style) -> _Style:
        if "interpret-as" not in attributes:
            self._fail("<say-as> says what it is by interpret-as")
        return replace(style, interpret=attributes["interpret-as"], format=attributes.get("format"))

    def _start_sub(self, attributes: dict[str, str], style: _Style) -> _Style:
        if not attributes.get("alias", "").strip():
            self._fail("<sub> says by alias what is said instead")
        return replace(style, alias=attributes["alias"])

    # What is written in them

    def _rate(self, text: str) -> float:
        found = _PERCENT.fullmatch(text)
        if found is None:
            return float(self._chosen("prosody", "rate", text, RATES, "80%"))
        change = float(found.group(2)) / 100
        return {"": change, "+": 1 + change, "-": 1 - change}[found.group(1)]

    def _volume(self, text: str) -> float:
        found = _DECIBELS.fullmatch(text)
        return float(found.group(1) if found else self._chosen("prosody", "volume", text, VOLUMES, "-6dB"))

    def _time(self, text: str) -> float:
        found = _TIME.fullmatch(text)
        if found is None:
            self._fail(f"time of <break> is {text!r}; write it as 500ms or 1.5s")
        seconds = float(found.group(1)) / (1000 if found.group(2) == "ms" else 1)
        if seconds > LONGEST_BREAK:
            self._fail(f"a <break> of {seconds:g} seconds is too long; the longest is {LONGEST_BREAK:g}s")
        return seconds

    def _styled(self, style: _Style, rate: float, volume: float) -> _Style:
        faster = style.rate * rate
        if not SLOWEST <= faster <= FASTEST:
            self._fail(f"a rate of {faster:.0%} cannot be understood; from {SLOWEST:.0%} to {FASTEST:.0%} can")
        return replace(style, rate=faster, volume=max(-120.0, min(40.0, style.volume + volume)))

    def _chosen(self, element: str, name: str, text: str, known: Mapping[str, Any], *more: str) -> Any:
        if text not in known:
            self._fail(f"{name} of <{element}> is {text!r}; there are {', '.join((*known, *more))}")
        return known[text]

    def _flush(self) -> None:
        """Take what was heard so far as one thing to say."""
        text, self._heard = " ".join("".join(self._heard).split()), []
        style = self._styles[-1] if self._styles else None
        if style is None or not (text or style.alias or style.interpret):
            return
        if style.interpret is not None:
            spoken = said_as(style.interpret, style.format, text, self._fail)
            text, self._languages = spoken.text, self._languages | spoken.languages
        self._add(Said(style.alias or text, style.rate, style.volume))

    def _add(self, said: Said) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, Said) and not self._gap and (last.rate, last.volume) == (said.rate, said.volume):
            # Said in one go, as if there had been no element.
            between = " " if said.text[0].isalnum() else ""
            self._parts[-1] = replace(last, text=f"{last.text}{between}{said.text}")
            return
        if self._gap and isinstance(last, Said):
            self._parts.append(Pause(self._gap))
        self._gap = 0.0
        self._parts.append(said)

    def _check(self, name: str, attributes: dict[str, str]) -> None:
        if name not in ATTRIBUTES:
            self._fail(f"<{name}> is not understood; there are {', '.join(f'<{n}>' for n in ATTRIBUTES)}")
        for attribute in attributes:
            if attribute not in ATTRIBUTES[name]:
                known = ", ".join(sorted(a for a in ATTRIBUTES[name] if not a.startswith("x"))) or "none"
                self._fail(f"{attribute} of <{name}> is not understood; there are {known}")
        inside = self._styles[-1].element if self._styles else None
        if (name == "speak") != (inside is None):
            self._fail("a text has one <speak>, around all of it")
        if inside in ("break", "sub", "say-as"):
            self._fail(f"<{name}> is inside <{inside}>, which holds no other element")

    def _refuse_doctype(self, *_: object) -> None:
        self._fail("a DOCTYPE is not understood; leave it out")

    def _fail(self, what: str) -> NoReturn:
        raise BadMarkup(f"line {self._parser.CurrentLineNumber}, column {self._parser.CurrentColumnNumber + 1}: {what}")
