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
        from penstock.studio.modelling.quads import in_quads

        with for_good():
            _check_budget(order.poly_budget)
            reporter.progress(0.0, "reading the mesh")
            given = read_glb(mesh)
            if not 0 < len(given.faces) <= _MOST_FACES:
                raise InvalidValue(f"the mesh has {len(given.faces)} triangles; it can have 1 to {_MOST_FACES}")
            reporter.progress(0.2, "simplifying")
            kept = len(given.faces) <= order.poly_budget
            made = given if kept else _simplified(given, order.poly_budget)
            reporter.progress(0.6, "joining")
            joined = in_quads(made) if order.quads else None
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


def _simplified(given: Any, budget: int) -> Any:
    """The mesh within its budget, its texture looked up on the mesh as it was.

    It keeps to the seams of its texture; where these are so many that the budget cannot be kept, the seams give way.
    """
    from penstock.studio.modelling.charted import charted, new_charts, textured
    from penstock.studio.modelling.simplification import simplified

    mesh, surface = charted(given)
    small = simplified(mesh, target=budget)
    if len(small.faces) > budget:
        small = new_charts(simplified(mesh.without_charts(), target=budget), surface)
    if len(small.faces) > budget:
        raise InvalidValue(
            f"the mesh cannot have fewer than {len(small.faces)} triangles without being torn; allow that many"
        )
    return textured(small, surface, given.texture)


def _written(model: Any, joined: Any, path: Path) -> dict[str, Any]:
    """The OBJ of the model in quads, and what was measured of it."""
    import numpy as np

    from penstock.studio.modelling.measure import measure
    from penstock.studio.modelling.wavefront import write_obj

    places = model.positions.astype(np.float64)
    write_obj(path, places, model.normals, model.uv, [joined.quads, joined.triangles], model.texture)
    found = measure(path)
    return {"quads": found["quads"], "quad_faces": found["faces"], "quad_bytes": found["bytes"]}
