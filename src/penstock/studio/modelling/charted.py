"""A mesh whose triangles know their chart, the piece of the texture they lie on; and a model made of it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.errors import InvalidValue
from penstock.studio.modelling.charts import charts_of
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.pairing import partners
from penstock.studio.modelling.simplification import Mesh
from penstock.studio.modelling.surface import Surface
from penstock.studio.modelling.topology import merged, vertex_normals, without_slivers


def charted(model: Model) -> tuple[Mesh, Surface]:
    """The mesh with one vertex at each place and the charts of its texture; and its surface, which knows both."""
    points, uv, faces = model.positions.astype(np.float64), model.uv.astype(np.float64), model.faces.astype(np.int64)
    kept, place = merged(points)
    faces = faces[without_slivers(place[faces])]
    if not len(faces):
        raise InvalidValue("the mesh has no triangle with an area; send another")
    _, spot = merged(points, uv)
    charts = charts_of(place[faces], spot[faces], uv[faces].mean(axis=1))
    mesh = Mesh(points[kept], place[faces], charts)
    return mesh, Surface(mesh.points, mesh.faces, uv[faces], charts)


def new_charts(small: Mesh, surface: Surface) -> Mesh:
    """The mesh with the nearest chart for each triangle; two that can be joined to a quad have the same."""
    middles = small.points[small.faces].mean(axis=1)
    return replace(small, charts=surface.charts_at((middles + middles[partners(small.points, small.faces)]) / 2))


def textured(small: Mesh, surface: Surface, texture: bytes | None) -> Model:
    """The mesh as a model: its vertices once for each chart of the texture that meets there."""
    many = int(small.charts.max()) + 1
    wedges, faces = np.unique(small.faces * many + small.charts[:, None], return_inverse=True)
    place, chart = wedges // many, wedges % many
    points = small.points[place]
    return Model(
        positions=points.astype(np.float32),
        normals=vertex_normals(small.points, small.faces)[place].astype(np.float32),
        uv=np.clip(surface.uv_at(points, chart), 0.0, 1.0).astype(np.float32),
        faces=faces.reshape(-1, 3).astype(np.uint32),
        texture=texture,
    )
