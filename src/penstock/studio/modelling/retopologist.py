"""The embedded retopologist: a mesh with as many triangles as a game can afford, and in quads if it is to be edited."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import InvalidValue
from penstock.generation.asset_steps import AssetOrder, Made, StepReporter
from penstock.generation.errors import for_good
from penstock.media.extra import need
from penstock.media.whole import whole

LEAST, MOST = 200, 100_000
"Triangles that a budget can be."
_MOST_FACES = 2_000_000
"Triangles of a mesh that is simplified."
_QUADS = 0.8
"The part of all faces that has to be four-sided, where quads are asked for."


class QuadricRetopologist:
    """Simplifies a mesh and keeps its texture. The same mesh and budget give the same bytes."""

    name = "penstock.retopologist"
    version = "1"

    def retopologise(self, mesh: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """``retopo.glb``, and ``retopo.obj`` where quads are asked for; a mesh within its budget stays as it is."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import read_glb, write_glb
        from penstock.studio.modelling.measure import measure

        with for_good():
            _check_budget(order.poly_budget)
            reporter.progress(0.0, "reading the mesh")
            given = read_glb(mesh)
            if not 0 < len(given.faces) <= _MOST_FACES:
                raise InvalidValue(f"the mesh has {len(given.faces)} triangles; it can have 1 to {_MOST_FACES}")
            reporter.progress(0.2, "simplifying")
            kept = len(given.faces) <= order.poly_budget
            made = _as_given(given) if kept else _simplified(given, order.poly_budget)
        reporter.progress(0.7, "writing")
        with whole(into / "retopo.glb") as file:
            if kept:
                shutil.copyfile(mesh, file)
            else:
                write_glb(made.model, file)
            metrics = measure(file)
        metrics |= {"poly_budget": order.poly_budget, "kept": kept, "faces_before": len(given.faces)}
        if order.quads:
            reporter.progress(0.8, "pairing")
            metrics |= _in_quads(made, into / "retopo.obj")
        reporter.progress(1.0)
        return Made(metrics=metrics)


@dataclass(frozen=True, slots=True)
class _Retopologised:
    model: Any
    points: Any
    "Of each vertex, more exactly than the model has them."


def _check_budget(budget: int) -> None:
    if not LEAST <= budget <= MOST:
        raise InvalidValue(f"a poly budget of {budget} cannot be kept; it can be {LEAST} to {MOST} triangles")


def _as_given(given: Any) -> _Retopologised:
    import numpy as np

    return _Retopologised(given, given.positions.astype(np.float64))


def _simplified(given: Any, budget: int) -> _Retopologised:
    """The mesh within its budget, its texture looked up on the mesh as it was.

    It keeps to the seams of its texture; where these are so many that the budget cannot be kept, the seams give way.
    """
    import numpy as np

    from penstock.studio.modelling.simplification import Mesh, simplified
    from penstock.studio.modelling.surface import Surface
    from penstock.studio.modelling.topology import face_pieces, merged, without_slivers

    points, uv, faces = given.positions.astype(np.float64), given.uv.astype(np.float64), given.faces.astype(np.int64)
    kept, place = merged(points)
    proper = without_slivers(place[faces])
    faces = faces[proper]
    _, spot = merged(points, uv)
    charts = face_pieces(spot[faces], int(spot.max()) + 1)
    mesh = Mesh(points[kept], place[faces], charts)
    small = simplified(mesh, target=budget)
    surface = Surface(mesh.points, mesh.faces, uv[faces], charts)
    if len(small.faces) > budget:
        small = simplified(Mesh(mesh.points, mesh.faces, np.zeros_like(charts)), target=budget)
        small = Mesh(small.points, small.faces, _new_charts(small, surface))
    if len(small.faces) > budget:
        raise InvalidValue(
            f"the mesh cannot have fewer than {len(small.faces)} triangles without being torn; allow that many"
        )
    return _textured(small, surface, given)


def _new_charts(small: Any, surface: Any) -> Any:
    """The nearest chart of the texture for each triangle; two that can be joined to a quad have the same."""
    from penstock.studio.modelling.pairing import partners

    middles = small.points[small.faces].mean(axis=1)
    return surface.charts_at((middles + middles[partners(small.points, small.faces)]) / 2)


def _textured(small: Any, surface: Any, given: Any) -> _Retopologised:
    """The mesh as a model: its vertices once for each chart of the texture that meets there."""
    import numpy as np

    from penstock.studio.modelling.model import Model
    from penstock.studio.modelling.topology import vertex_normals

    many = int(small.charts.max()) + 1
    wedges, faces = np.unique(small.faces * many + small.charts[:, None], return_inverse=True)
    place, chart = wedges // many, wedges % many
    points = small.points[place]
    made = Model(
        positions=points.astype(np.float32),
        normals=vertex_normals(small.points, small.faces)[place].astype(np.float32),
        uv=np.clip(surface.uv_at(points, chart), 0.0, 1.0).astype(np.float32),
        faces=faces.reshape(-1, 3).astype(np.uint32),
        texture=given.texture,
    )
    return _Retopologised(made, points)


def _in_quads(made: _Retopologised, path: Path) -> dict[str, Any]:
    """The mesh as an OBJ whose triangles are joined to quads, and what was measured of it."""
    import numpy as np

    from penstock.studio.modelling.measure import measure
    from penstock.studio.modelling.pairing import paired
    from penstock.studio.modelling.wavefront import write_obj

    model = made.model
    joined = paired(made.points, model.faces.astype(np.int64))
    if joined.share < _QUADS:
        raise InvalidValue(
            f"only {joined.share:.0%} of the faces can be four-sided; ask for triangles, or send a mesh in one piece"
        )
    write_obj(path, made.points, model.normals, model.uv, [joined.quads, joined.triangles], model.texture)
    found = measure(path)
    return {"quads": found["quads"], "quad_faces": found["faces"], "quad_bytes": found["bytes"]}
