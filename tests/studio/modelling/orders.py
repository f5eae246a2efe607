"""What is ordered, and a file of each kind of body, rigged and animated as the steps do it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.generation.asset_steps import Animator, AssetOrder, Rigger
from penstock.studio.modelling.animator import CycleAnimator
from penstock.studio.modelling.glb import write_glb
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.rigger import ShapeRigger
from tests.generation.listening_reporter import ListeningReporter

ORDER = AssetOrder(kind="character", concept="Somebody who walks")
RIGGER: Rigger = ShapeRigger()
ANIMATOR: Animator = CycleAnimator()


def rigged(body: Model, folder: Path, *, kind: str = "HUMANOID") -> Path:
    """A body as it leaves the rigger."""
    mesh, into = folder / "retopo.glb", folder / "rig.glb"
    write_glb(body, mesh)
    RIGGER.rig(mesh, replace(ORDER, rig=kind), into, ListeningReporter())
    return into


def animated(body: Model, folder: Path, *, kind: str = "HUMANOID") -> Path:
    """A body as it leaves the animator."""
    into = folder / "anim.glb"
    ANIMATOR.animate(rigged(body, folder, kind=kind), replace(ORDER, rig=kind), into, ListeningReporter())
    return into
