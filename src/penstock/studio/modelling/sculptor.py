"""The embedded sculptor: what a picture shows, inflated to a closed and textured mesh."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from penstock.generation.asset_steps import AssetOrder, Made, StepReporter
from penstock.generation.errors import for_good
from penstock.media.extra import need
from penstock.media.whole import whole

_POINTS = 5000
"Of the grid, that are about to lie inside the subject: what is thin is modelled more finely."
_CELLS = (56, 224)
"The fewest and the most steps of the grid along the subject's long side."
_FINE = 4
"Pixels that are looked at for each of them, along a side."
_THIN = 3
"Parts whose half width is less than this, in those pixels, are made so wide: they would be lost between two steps."
_MARGIN = 3
"Steps of the grid around the subject."
_SIZES = {"MOBILE": 1024}
_SIZE = 2048
"Of the texture, in pixels."
_EVEN = 0.85
"How much of a silhouette its mirror image has in common with it, if it is seen from the front."
_TALL = 1.8
"Metres, of somebody who stands."
_LONG = {"character": 1.6, "prop": 1.0}
"Metres, along the long side of whatever else there is."


class Sculptor:
    """Models what a picture shows from its silhouette. The same picture gives the same bytes."""

    name = "penstock.sculptor"
    version = "1"

    def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A GLB in one piece, closed, with the picture in front and a guessed back; it tells what was left out."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import write_glb
        from penstock.studio.modelling.measure import measure
        from penstock.studio.modelling.silhouette import silhouette

        reporter.progress(0.0, "looking at the picture")
        with for_good():
            seen = silhouette(picture)
        reporter.progress(0.2, "modelling")
        made, told = _modelled(seen, order)
        reporter.progress(0.8, "writing")
        with whole(into) as file:
            write_glb(made, file)
            metrics = measure(file)
        reporter.progress(1.0)
        return Made(metrics={**metrics, **told})


def _modelled(seen: Any, order: AssetOrder) -> tuple[Any, dict[str, Any]]:
    """The model, and what is worth knowing of how it came to be."""
    from penstock.studio.modelling.atlas import atlas
    from penstock.studio.modelling.inflation import profile, thickness
    from penstock.studio.modelling.islands import in_one_piece
    from penstock.studio.modelling.sampling import level_of, sampled
    from penstock.studio.modelling.shell import shell

    how = profile(order)
    long = max(seen.there.shape)
    cells = min(max(long * math.sqrt(_POINTS * how.grain / float(seen.there.sum())), _CELLS[0]), _CELLS[1])
    pixel = cells * _FINE / long
    fine = sampled(seen.there, pixel, thin=_THIN, margin=_MARGIN * _FINE)
    pieces = in_one_piece(fine, bridge=2 * _THIN + 1, hole=(2 * _FINE) ** 2)
    level, lost = level_of(pieces.mask, _FINE)
    solid = shell(level, thickness(level, how))
    # From steps of the grid to pixels of the picture.
    grain = [(side - 2 * _MARGIN * _FINE) / whole for side, whole in zip(fine.shape, seen.there.shape, strict=True)]
    places = (solid.points[:, :2] * [1, -1] - 1 - _MARGIN) * _FINE / grain[::-1]
    size = _SIZES.get(order.platform, _SIZE)
    alike = order.kind == "prop" or (order.rig != "HUMANOID" and _from_side(seen.there))
    texture = atlas(seen, margin=(_MARGIN + 1) * _FINE / min(grain), largest=size, alike=alike)
    model = _assembled(solid, places, texture, _scale(order, solid.points))
    told = {"profile": how.name, "islands_joined": pieces.joined, "specks_dropped": pieces.dropped + lost}
    told |= {
        "back": "as in front" if alike else "guessed",
        "holes_filled": pieces.filled,
        "holes": pieces.holes,
        "cut_out": seen.cut,
    }
    return model, told


def _from_side(there: Any) -> bool:
    """Is somebody seen from the side, who then looks alike from the other? Whoever is seen from the front is even."""
    mirrored = there[:, ::-1]
    return bool((there & mirrored).sum() < _EVEN * (there | mirrored).sum())


def _scale(order: AssetOrder, points: Any) -> float:
    """Metres for each step of the grid."""
    wide, high = (float(points[:, axis].max() - points[:, axis].min()) for axis in (0, 1))
    if order.kind == "character" and order.rig == "HUMANOID":
        return _TALL / high
    return _LONG.get(order.kind, 1.0) / max(wide, high, math.ulp(1.0))


def _assembled(solid: Any, places: Any, texture: Any, scale: float) -> Any:
    """The model on its feet, in the middle, with the vertices of the rim once in front and once behind."""
    import numpy as np

    from penstock.studio.modelling.model import Model
    from penstock.studio.modelling.topology import vertex_normals

    low, high = solid.points.min(axis=0), solid.points.max(axis=0)
    points = (solid.points - [(low[0] + high[0]) / 2, low[1], 0.0]) * scale
    normals = vertex_normals(points, solid.faces)
    parts, faces, count = [], [], 0
    for behind in (False, True):
        mine = solid.faces[solid.behind == behind]
        used, where = np.unique(mine, return_inverse=True)
        parts.append((points[used], normals[used], texture.at(places[used], behind)))
        faces.append(where.reshape(-1, 3) + count)
        count += len(used)
    places, outwards, uv = (np.concatenate(part).astype(np.float32) for part in zip(*parts, strict=True))
    return Model(places, outwards, uv, np.concatenate(faces).astype(np.uint32), texture.texture)
