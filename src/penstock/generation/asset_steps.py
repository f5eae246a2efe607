"""The ports of the steps that turn an idea into an asset: it is drawn, refined, modelled, rigged, animated, exported.

A maker gets paths of files that exist and a path to write to, tells its reporter how far it is, and fails as
`generation.steps` says. What it returns as metrics is measured from the files it has written. Where it promises the
same again, the same order, seed and files give the same bytes on one machine and installation.

| step | reads | writes |
|---|---|---|
| draw | the order | a PNG with alpha |
| refine | that picture | a larger and cleaner one |
| model | the refined picture | a GLB: closed, textured in front and behind |
| retopologise | the GLB | a folder: `retopo.glb` within the budget, and `retopo.obj` where quads are asked for |
| rig | `retopo.glb` | a GLB with a skin |
| animate | the rigged GLB | a GLB with clips |
| export | whatever was made last | a folder: all that goes to whoever asked |

Every file a maker reads may come from elsewhere: it is bounded before it is worked on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from penstock.generation.steps import Made, StepReporter

__all__ = [
    "Animator",
    "AssetExporter",
    "AssetMaker",
    "AssetOrder",
    "Made",
    "Modeller",
    "PictureMaker",
    "PictureRefiner",
    "Retopologist",
    "Rigger",
    "StepReporter",
]


@dataclass(frozen=True, slots=True)
class AssetOrder:
    """What somebody asks for, as every maker is told it."""

    kind: str
    "A character, a prop, a sprite or a background, in that word."
    concept: str
    "The core of it, in words."
    style: str = ""
    "More words, about its style."
    details: str = ""
    "More words, about anything else."
    seed: int = 0
    palette: Sequence[str] = ()
    "Colours of the style profile, as #rrggbb, the most important first."
    outline: float | None = None
    "How thick outlines are in the style profile, from 0 to 1; None is as the maker likes."
    proportions: str | None = None
    "Of the style profile: chibi, heroic or realistic."
    poly_budget: int = 3000
    "Triangles."
    quads: bool = False
    "Is the mesh wanted in four-sided faces as well?"
    platform: str = "PC"
    "MOBILE, PC or CONSOLE."
    rig: str = "HUMANOID"
    "HUMANOID, QUADRUPED or STATIC."
    reference: Path | None = None
    "A picture of what is meant, from whoever asks."
    job: str | None = None
    "What an earlier attempt has begun elsewhere, as told to its reporter; go on with it instead of paying twice."
    order: str = ""
    "What is the same for all attempts at one step run, and for no other, should that be ordered in the same words."


class AssetMaker(Protocol):
    """Whoever makes one of the files; both words go into the provenance, and into what tells two runs apart."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...


class PictureMaker(AssetMaker, Protocol):
    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A PNG of 1024 pixels or more on its long side: the subject whole, in the middle, on a transparent ground.

        A background fills the picture instead, at 16 to 9.
        """
        ...


class PictureRefiner(AssetMaker, Protocol):
    def refine(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """The picture as a PNG of 2048 pixels on its long side, its edges crisp, without fringe or specks."""
        ...


class Modeller(AssetMaker, Protocol):
    def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A GLB of what is seen in the picture, in one file, textured, with normals and texture coordinates."""
        ...


class Retopologist(AssetMaker, Protocol):
    def retopologise(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """The mesh within its budget of triangles, as ``retopo.glb`` in the folder ``into``.

        Where quads are asked for there is a ``retopo.obj`` beside it, at least 80 % of whose faces are four-sided, with
        its material and texture.
        """
        ...


class Rigger(AssetMaker, Protocol):
    def rig(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """The mesh as a GLB with a skin: joints of the kind ordered, and at most 4 weights a vertex, which sum to 1."""
        ...


class Animator(AssetMaker, Protocol):
    def animate(self, rigged: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """The rigged mesh as a GLB with the clips that its kind of rig has."""
        ...


class AssetExporter(AssetMaker, Protocol):
    def export(
        self, made: Path, order: AssetOrder, provenance: Mapping[str, Any], into: Path, reporter: StepReporter
    ) -> Made:
        """All that goes to whoever asked, in the folder ``into``; ``provenance`` is written into the files."""
        ...
