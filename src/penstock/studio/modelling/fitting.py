"""A body put where it belongs, and the joints found in it."""

from __future__ import annotations

import numpy as np

from penstock.errors import InvalidValue
from penstock.studio.modelling.humanoid import fit_humanoid
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.occupancy import Occupancy, occupied
from penstock.studio.modelling.quadruped import fit_quadruped
from penstock.studio.modelling.skeletons import HUMANOID, QUADRUPED, STATIC, FittedRig

_ROWS = 96
"Cells from the feet to the crown: a finger's breadth each."
_TALL = {HUMANOID: 1.8, QUADRUPED: 1.0}
_TALLEST = 4.0
_SMALLEST = 0.2
"How tall somebody may be, in metres; any other comes from where lengths are no metres, and is made as tall as usual."


def fitted(model: Model, kind: str, *, proportions: str | None = None) -> tuple[FittedRig, Occupancy]:
    """The joints of that kind in a model, which is put on the ground first; and the space it fills."""
    stand(model, tall=_TALL.get(kind))
    body = occupied(model.positions, model.faces, rows=_ROWS if kind != STATIC else 8)
    if kind == STATIC:
        low, high = model.positions.min(axis=0), model.positions.max(axis=0)
        return FittedRig(STATIC, {"root": np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2])}), body
    fit = fit_quadruped(body) if kind == QUADRUPED else fit_humanoid(body, proportions=proportions)
    inside = body.brought_inside(np.array(list(fit.places.values())))
    fit.places = dict(zip(fit.places, inside, strict=True))
    return fit, body


def stand(model: Model, *, tall: float | None = None) -> None:
    """Put a model on the ground, its middle over the origin; what nobody is as tall as is made as tall as told."""
    low, high = model.positions.min(axis=0), model.positions.max(axis=0)
    height = float(high[1] - low[1])
    if not height > 1e-6:
        raise InvalidValue("the mesh is flat: it has no height to stand up with; model it anew")
    scale = tall / height if tall and not _SMALLEST <= height <= _TALLEST else 1.0
    foot = np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2])
    model.positions = ((model.positions - foot) * scale).astype(np.float32)
