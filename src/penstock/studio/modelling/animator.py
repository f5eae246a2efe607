"""The embedded animator: lets a rigged model stand, walk and wave, wag its tail, or turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.errors import InvalidValue
from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need


class CycleAnimator:
    """Makes clips that can go on for ever, for the bones a model has. The same model gives the same bytes."""

    name, version = "penstock.animator", "1"

    def animate(self, rigged: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A GLB with the clips of its kind of rig, which its joints tell."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import read_glb, write_glb

        with for_good():
            model = read_glb(rigged)
            reporter.progress(0.2, "moving joints")
            animated(model)
            write_glb(model, into)
        reporter.progress(1.0)
        return Made(metrics=_measured(into))


def animated(model: Any) -> None:
    """Give a model its clips."""
    from penstock.studio.modelling.motions import motions
    from penstock.studio.modelling.skeletons import TEMPLATES, kind_of

    if model.skeleton is None or model.joints is None:
        raise InvalidValue("the model has no skeleton that can be moved here; rig it first")
    kind = kind_of(model.skeleton.names)
    if kind is None:
        raise InvalidValue(f"the model has the joints of none of {', '.join(TEMPLATES)}; rig it anew")
    said = model.extras.get("rig")
    notes = (
        {str(name): value for name, value in said.items() if isinstance(value, bool)} if isinstance(said, dict) else {}
    )
    model.clips = motions(model, kind, notes)


def _measured(path: Path) -> dict[str, Any]:
    """What the file that was written has."""
    from penstock.studio.modelling.glb import read_glb

    made = read_glb(path)
    assert made.skeleton is not None
    return {
        "joints": len(made.skeleton.names),
        "clips": {clip.name: round(clip.seconds, 3) for clip in made.clips},
        "bytes": path.stat().st_size,
    }
