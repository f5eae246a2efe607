"""A model in quads, for those who edit it further."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.errors import InvalidValue
from penstock.studio.modelling.charted import charted, new_charts, textured
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.pairing import Quads, paired
from penstock.studio.modelling.topology import merged, without_slivers

_LEAST = 0.8
"The part of all faces that has to be four-sided."


def in_quads(model: Model) -> tuple[Model, Quads]:
    """The model and its triangles joined to quads; if its texture has too many seams for that, some give way."""
    made = _one_vertex_a_spot(model)
    joined = _joined(made)
    if joined.share < _LEAST:
        mesh, surface = charted(made)
        made = textured(new_charts(mesh, surface), surface, model.texture)
        joined = _joined(made)
    if joined.share < _LEAST:
        raise InvalidValue(
            f"only {joined.share:.0%} of the faces can be four-sided; ask for triangles, or send a mesh in one piece"
        )
    return made, joined


def _joined(model: Model) -> Quads:
    return paired(model.positions.astype(np.float64), model.faces.astype(np.int64))


def _one_vertex_a_spot(model: Model) -> Model:
    """One vertex for all that are the same but for their normals: edges lie between triangles again."""
    kept, which = merged(model.positions.astype(np.float64), model.uv.astype(np.float64))
    faces = kept[which][model.faces.astype(np.int64)]
    return replace(model, faces=faces[without_slivers(faces)].astype(np.uint32))
