"""What a mesh is like, measured from its file: nobody has to believe whoever made it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from penstock.media.errors import UnusableFile
from penstock.media.image import opened
from penstock.studio.modelling.glb import read_glb
from penstock.studio.modelling.model import Doubles, Model, Whole
from penstock.studio.modelling.topology import face_pieces, is_closed, merged, volume, without_slivers
from penstock.studio.modelling.wavefront import Polygons, read_obj

_GRAIN = 512
"Pixels, in both directions, by which the coverage of a texture is told."


def measure(path: Path) -> dict[str, Any]:
    """Faces, vertices, whether it is closed, how much of its texture it uses, joints, lengths of clips, bytes …

    It is a GLB or an OBJ by its name's ending; UnusableFile if it is damaged.
    """
    suffix = path.suffix.lower()
    if suffix not in (".glb", ".obj"):
        raise UnusableFile(f"a file that ends in {suffix[:12]!r} is not measured; send a GLB or an OBJ")
    found = _of_model(read_glb(path)) if suffix == ".glb" else _of_polygons(read_obj(path))
    return {**found, "bytes": path.stat().st_size}


def _of_model(model: Model) -> dict[str, Any]:
    faces = model.faces.astype(np.int64)
    size = None
    if model.texture is not None:
        with Image.open(BytesIO(model.texture)) as picture:
            size = list(picture.size)
    return {
        "faces": len(faces),
        "vertices": len(model.positions),
        **_solid(model.positions.astype(np.float64), faces),
        "uv_coverage": _coverage(list(model.uv.astype(np.float64)[faces]) if model.uv.any() else []),
        "texture_size": size,
        "joints": len(model.skeleton.names) if model.skeleton else 0,
        "clips": {clip.name: round(clip.seconds, 3) for clip in model.clips},
    }


def _of_polygons(mesh: Polygons) -> dict[str, Any]:
    size = None
    if mesh.texture is not None:
        with opened(mesh.texture) as picture:
            size = list(picture.size)
    triangles = [[face[0], face[n], face[n + 1]] for face in mesh.faces for n in range(1, len(face) - 1)]
    quads = sum(len(face) == 4 for face in mesh.faces)
    return {
        "faces": len(mesh.faces),
        "triangles": len(triangles),
        "vertices": len(mesh.points),
        "quads": round(quads / max(len(mesh.faces), 1), 4),
        **_solid(mesh.points, np.array(triangles, dtype=np.int64).reshape(-1, 3)),
        "uv_coverage": _coverage([mesh.uv[face] for face in mesh.uv_faces if face]),
        "texture_size": size,
        "joints": 0,
        "clips": {},
    }


def _solid(points: Doubles, faces: Whole) -> dict[str, Any]:
    """What the mesh is like as a body: vertices at the same place are one for it."""
    kept, which = merged(points)
    points, faces = points[kept], which[faces]
    faces = faces[without_slivers(faces)]
    closed = is_closed(faces)
    size = (points.max(axis=0) - points.min(axis=0)).tolist() if len(points) else [0.0, 0.0, 0.0]
    found = {
        "watertight": closed,
        "pieces": int(face_pieces(faces, len(points)).max(initial=-1)) + 1,
        "size": [round(side, 4) for side in size],
    }
    return found | ({"volume": round(volume(points, faces), 6)} if closed else {})


def _coverage(faces: list[Doubles]) -> float:
    """The part of the texture that some face shows, given the texture coordinates of the corners of each."""
    sheet = Image.new("L", (_GRAIN, _GRAIN))
    if faces:
        ink = ImageDraw.Draw(sheet).draw.draw_polygon
        ends = np.cumsum([2 * len(face) for face in faces]).tolist()
        flat = (np.clip(np.concatenate(faces), 0, 1) * (_GRAIN - 1)).ravel().tolist()
        for first, last in zip([0, *ends], ends, strict=False):
            ink(flat[first:last], 1, 1)
    return round(float(np.count_nonzero(np.asarray(sheet)) / _GRAIN**2), 4)
