"""The embedded retopologist: a mesh with as many triangles as a game can afford, and in quads if it is to be edited."""

from __future__ import annotations

import shutil
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
            reporter.progress(0.6, "joining")
            joined = _joined(made, given) if order.quads else None
        reporter.progress(0.7, "writing")
        with whole(into / "retopo.glb") as file:
            if kept:
                shutil.copyfile(mesh, file)
            else:
                write_glb(made, file)
            metrics = measure(file)
        metrics |= {"poly_budget": order.poly_budget, "kept": kept, "faces_before": len(given.faces)}
        if joined is not None:
            metrics |= _written(*joined, into / "retopo.obj")
        reporter.progress(1.0)
        return Made(metrics=metrics)


def _check_budget(budget: int) -> None:
    if not LEAST <= budget <= MOST:
        raise InvalidValue(f"a poly budget of {budget} cannot be kept; it can be {LEAST} to {MOST} triangles")


def _as_given(given: Any) -> Any:
    """The model, with one vertex for all that are the same but for their normals: edges lie between triangles again."""
    from dataclasses import replace

    import numpy as np

    from penstock.studio.modelling.topology import merged, without_slivers

    kept, which = merged(given.positions.astype(np.float64), given.uv.astype(np.float64))
    faces = kept[which][given.faces.astype(np.int64)]
    return replace(given, faces=faces[without_slivers(faces)].astype(np.uint32))


def _simplified(given: Any, budget: int) -> Any:
    """The mesh within its budget, its texture looked up on the mesh as it was.

    It keeps to the seams of its texture; where these are so many that the budget cannot be kept, the seams give way.
    """
    from penstock.studio.modelling.simplification import simplified

    mesh, surface = _charted(given)
    small = simplified(mesh, target=budget)
    if len(small.faces) > budget:
        small = _new_charts(simplified(mesh.without_charts(), target=budget), surface)
    if len(small.faces) > budget:
        raise InvalidValue(
            f"the mesh cannot have fewer than {len(small.faces)} triangles without being torn; allow that many"
        )
    return _textured(small, surface, given)


def _charted(given: Any) -> tuple[Any, Any]:
    """The mesh with one vertex at each place and the charts of its texture; and its surface, which knows both."""
    import numpy as np

    from penstock.studio.modelling.charts import charts_of
    from penstock.studio.modelling.simplification import Mesh
    from penstock.studio.modelling.surface import Surface
    from penstock.studio.modelling.topology import merged, without_slivers

    points, uv, faces = given.positions.astype(np.float64), given.uv.astype(np.float64), given.faces.astype(np.int64)
    kept, place = merged(points)
    faces = faces[without_slivers(place[faces])]
    if not len(faces):
        raise InvalidValue("the mesh has no triangle with an area; send another")
    _, spot = merged(points, uv)
    charts = charts_of(place[faces], spot[faces], uv[faces].mean(axis=1))
    mesh = Mesh(points[kept], place[faces], charts)
    return mesh, Surface(mesh.points, mesh.faces, uv[faces], charts)


def _new_charts(small: Any, surface: Any) -> Any:
    """The mesh with the nearest chart for each triangle; two that can be joined to a quad have the same."""
    from dataclasses import replace

    from penstock.studio.modelling.pairing import partners

    middles = small.points[small.faces].mean(axis=1)
    return replace(small, charts=surface.charts_at((middles + middles[partners(small.points, small.faces)]) / 2))


def _textured(small: Any, surface: Any, given: Any) -> Any:
    """The mesh as a model: its vertices once for each chart of the texture that meets there."""
    import numpy as np

    from penstock.studio.modelling.model import Model
    from penstock.studio.modelling.topology import vertex_normals

    many = int(small.charts.max()) + 1
    wedges, faces = np.unique(small.faces * many + small.charts[:, None], return_inverse=True)
    place, chart = wedges // many, wedges % many
    points = small.points[place]
    return Model(
        positions=points.astype(np.float32),
        normals=vertex_normals(small.points, small.faces)[place].astype(np.float32),
        uv=np.clip(surface.uv_at(points, chart), 0.0, 1.0).astype(np.float32),
        faces=faces.reshape(-1, 3).astype(np.uint32),
        texture=given.texture,
    )


def _joined(made: Any, given: Any) -> tuple[Any, Any]:
    """The model and its triangles joined to quads; if its texture has too many seams for that, some give way."""
    import numpy as np

    from penstock.studio.modelling.pairing import paired

    joined = paired(made.positions.astype(np.float64), made.faces.astype(np.int64))
    if joined.share < _QUADS:
        mesh, surface = _charted(made)
        made = _textured(_new_charts(mesh, surface), surface, given)
        joined = paired(made.positions.astype(np.float64), made.faces.astype(np.int64))
    if joined.share < _QUADS:
        raise InvalidValue(
            f"only {joined.share:.0%} of the faces can be four-sided; ask for triangles, or send a mesh in one piece"
        )
    return made, joined


def _written(model: Any, joined: Any, path: Path) -> dict[str, Any]:
    """The OBJ of the model in quads, and what was measured of it."""
    import numpy as np

    from penstock.studio.modelling.measure import measure
    from penstock.studio.modelling.wavefront import write_obj

    places = model.positions.astype(np.float64)
    write_obj(path, places, model.normals, model.uv, [joined.quads, joined.triangles], model.texture)
    found = measure(path)
    return {"quads": found["quads"], "quad_faces": found["faces"], "quad_bytes": found["bytes"]}
