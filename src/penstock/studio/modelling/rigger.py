"""The embedded rigger: finds the joints of a body by its shape, and lets its surface follow them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.errors import InvalidValue
from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need


class ShapeRigger:
    """Rigs a mesh as a humanoid, a quadruped or something that only turns. The same mesh gives the same bytes."""

    name, version = "penstock.rigger", "1"

    def rig(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A GLB with a skin, put on the ground over the origin; people are made as tall as people are."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import read_glb, write_glb

        with for_good():
            model = read_glb(mesh)
            reporter.progress(0.2, "finding joints")
            fit = rigged(model, order.rig, proportions=order.proportions)
            model.extras = {"rig": {"kind": fit.kind, **fit.notes}}
            write_glb(model, into)
        reporter.progress(1.0)
        return Made(metrics=_measured(into))


def rigged(model: Any, kind: str, *, proportions: str | None = None) -> Any:
    """Give a model the skeleton of a kind, and return where its joints were found."""
    from penstock.studio.modelling.fitting import fitted
    from penstock.studio.modelling.skeletons import TEMPLATES
    from penstock.studio.modelling.weights import skin

    if kind not in TEMPLATES:
        raise InvalidValue(f"there is no rig {kind[:40]!r}; choose one of {', '.join(TEMPLATES)}")
    fit, body = fitted(model, kind, proportions=proportions)
    model.clips = []
    skin(model, fit, body)
    return fit


def _measured(path: Path) -> dict[str, Any]:
    """What the file that was written has."""
    from penstock.studio.modelling.glb import read_glb

    made = read_glb(path)
    assert made.skeleton is not None
    assert made.weights is not None
    return {
        "rig": made.extras["rig"]["kind"],
        "joints": len(made.skeleton.names),
        "vertices": len(made.positions),
        "faces": len(made.faces),
        "weights_per_vertex": int((made.weights > 0).sum(axis=1).max()),
        "bytes": path.stat().st_size,
    }
