"""The embedded writer: scenes composed from the concept, the character, the product and a director's manner.

A video has an arc: it opens, develops, comes to a climax and closes. Each scene says in plain words who is seen and
what happens, from how near, at which hour, how the camera moves, in which light and colours. The same brief gives the
same scenes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from penstock.errors import InvalidValue
from penstock.generation.directors import Director, director
from penstock.generation.errors import for_good
from penstock.generation.steps import Brief, SceneIdea, StepReporter
from penstock.studio.vocabulary import ACTIONS, HOURS, POSTURES, told

LONGEST = 5000
"Characters of a prompt."
_LONGEST_PART = {"concept": 2000, "character": 1000, "product": 1000}

_SONG = {
    "opening": (
        "arrives and looks around for the first time",
        "walks into the picture, small against the horizon",
        "looks up as the first chord sounds",
        "waits while the music begins",
    ),
    "development": (
        "walks on and looks around",
        "sings to the camera, calm and sure",
        "wanders on without a word",
        "sings with eyes half closed, remembering",
        "looks up and gazes at the sky",
        "runs a few steps, laughing",
        "sings softly, almost to nobody",
        "pauses and watches the horizon",
    ),
    "climax": (
        "sings the chorus with arms wide open",
        "dances as if nobody were watching",
        "sings at the top of the voice",
    ),
    "closing": (
        "waves to the camera and grows smaller",
        "walks away, towards the light",
        "looks back once more, and smiles",
        "waits as the last note fades",
    ),
}
_AD = {
    "opening": (
        "looks around for something that is missing",
        "walks along",
        "arrives, tired, and looks around",
    ),
    "development": (
        "discovers the product and looks closer",
        "shows the product to the camera",
        "holds up the product with a smile",
        "watches how the product changes everything",
    ),
    "climax": (
        "dances with the product in hand",
        "presents the product in its best light",
        "celebrates with the product",
    ),
    "closing": (
        "presents the product and waves to the camera",
        "points at the product, which fills the frame",
        "waves goodbye, the product in front",
    ),
}
_HOURS = {"dawn": "at dawn", "day": "in bright daylight", "sunset": "at sunset", "night": "at night"}
_NEAR = {"wide": "Wide shot", "medium": "Medium shot", "close": "Close-up"}


class ConceptWriter:
    """Writes scenes without any model."""

    def write(self, brief: Brief, reporter: StepReporter) -> Sequence[SceneIdea]:
        """As many scenes as the brief wants, each different from the others."""
        with for_good():
            if brief.scenes < 1:
                raise InvalidValue(f"{brief.scenes} scenes cannot be written; ask for at least one")
            page = _Page(brief)
        ideas: list[SceneIdea] = []
        for n in range(brief.scenes):
            reporter.progress(n / brief.scenes, "writing")
            ideas.append(page.scene(n, brief.scenes, [idea.prompt for idea in ideas]))
        reporter.progress(1.0)
        return ideas

    def add(self, brief: Brief, concept: str, earlier: Sequence[str], reporter: StepReporter) -> SceneIdea:
        """One scene more, in the manner of the others; unless it advertises something, somebody sings in it."""
        with for_good():
            if not concept.strip():
                raise InvalidValue("nothing is said about the new scene; write a few words about what happens in it")
            idea = _Page(brief).further(concept, earlier)
        reporter.progress(1.0)
        return idea


class _Page:
    """Where the scenes of one brief are written."""

    def __init__(self, brief: Brief) -> None:
        self._brief = brief
        self._director: Director = director(brief.director)
        self._concept = _shortened(brief.concept, _LONGEST_PART["concept"])
        self._who = _shortened(brief.character, _LONGEST_PART["character"]) or "the main character"
        self._product = _shortened(brief.product or "the product", _LONGEST_PART["product"])
        self._is_ad = brief.advertises
        self._turn = _number(f"{brief.mode}\n{brief.concept}\n{brief.character}\n{brief.product}\n{brief.director}")

    def scene(self, n: int, count: int, earlier: Sequence[str]) -> SceneIdea:
        act = _act(n, count)
        near, sings = self._shot(n, count, act)
        beats = (_AD if self._is_ad else _SONG)[act]
        if not self._is_ad:
            # Whoever sings is seen singing, and in the other scenes does something else.
            beats = tuple(beat for beat in beats if ("sings" in beat) == sings) or beats
        beats = self._fitting(beats)
        beat = beats[(self._turn + n // (2 if act == "development" else 1)) % len(beats)]
        return self._idea(f"{self._concept}: {self._who} {beat}", near, n, count, earlier, sings=sings)

    def _fitting(self, beats: tuple[str, ...]) -> tuple[str, ...]:
        """Beats in which nothing else is done than what the concept tells; whoever sits there does not run here."""
        concept = self._brief.concept.lower()
        deed = told(concept, POSTURES) or told(concept, ACTIONS)
        if deed is None:
            return beats
        return tuple(beat for beat in beats if told(beat, ACTIONS) in (None, deed)) or ("looks on",)

    def further(self, concept: str, earlier: Sequence[str]) -> SceneIdea:
        n = len(earlier)
        what = f"{_shortened(concept, _LONGEST_PART['concept'])}, with {self._who}"
        sings = not self._is_ad
        return self._idea(what, "close" if sings else "medium", n, n + 1, earlier, sings=sings)

    def _shot(self, n: int, count: int, act: str) -> tuple[str, bool]:
        """How near the camera is, and whether somebody sings: about every other scene of a song is a face."""
        if self._is_ad:
            return ("wide" if act == "opening" else "medium"), False
        if act == "climax":
            return ("medium" if count > 3 else "close"), True
        if (act == "development" and n % 2 == 1) or (act == "closing" and count <= 3):
            return "close", True
        return ("medium" if act == "development" else "wide"), False

    def _idea(self, what: str, near: str, n: int, count: int, earlier: Sequence[str], *, sings: bool) -> SceneIdea:
        manner, turn = self._director, self._turn + n
        parts = [
            f"{_NEAR[near]}. {_sentence(what)}",
            _sentence(f"singing to the music, {self._hour(n, count)}" if sings else self._hour(n, count)),
            _sentence(manner.camera[turn % len(manner.camera)]),
            _sentence(manner.light[turn % len(manner.light)]),
            f"Palette of {', '.join(manner.palette[:-1])} and {manner.palette[-1]}.",
            f"Pacing: {manner.pacing}.",
        ]
        if self._is_ad:
            parts.insert(1, f"The product: {self._product}.")
        prompt = " ".join(parts)
        again, told_before = 1, set(earlier)
        while prompt in told_before:
            again += 1
            prompt = " ".join([*parts, f"Take {again}."])
        return SceneIdea(prompt[:LONGEST], self._brief.seconds, manner.negative_prompt, sings)

    def _hour(self, n: int, count: int) -> str:
        """The hour that the concept tells, or the director's hours in the course of the video."""
        hour = told(self._brief.concept.lower(), HOURS)
        hours = self._director.hours
        return _HOURS[hour or hours[min(n * len(hours) // count, len(hours) - 1)]]


def _act(n: int, count: int) -> str:
    """The part of the arc a scene belongs to."""
    if count == 1:
        return "climax"
    if n == 0:
        return "opening"
    if n == count - 1:
        return "closing"
    return "climax" if n == count - 2 else "development"


def _sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "…")) else ".")


def _shortened(text: str, longest: int) -> str:
    """In one line, without the full stop, cut at a word if it is too long."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= longest else line[: longest - 1].rsplit(" ", 1)[0] + "…"


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
