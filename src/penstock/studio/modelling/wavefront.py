"""OBJ files: faces of any number of corners, with their material and texture beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from penstock.media.errors import UnusableFile
from penstock.media.whole import whole
from penstock.studio.modelling.model import Doubles, Floats, Whole

_LARGEST = 64 << 20
_MOST_FACES = 1_000_000
_NAME = re.compile(r"[\w.-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Polygons:
    """A mesh of faces with any number of corners, as an OBJ has them: places and texture coordinates apart."""

    points: Doubles
    uv: Doubles
    "(any number, 2); 0, 0 is the upper left corner of the texture."
    faces: list[list[int]]
    "For each face the numbers of its corners' places."
    uv_faces: list[list[int]]
    "For each face the numbers of its corners' texture coordinates; none where it has none."
    texture: Path | None = None


def write_obj(
    path: Path,
    points: Doubles,
    normals: Doubles | Floats,
    uv: Doubles | Floats,
    faces: list[Whole],
    texture: bytes | None,
) -> None:
    """An OBJ of vertices that have all three, with an MTL and a PNG of the same name beside it.

    ``faces`` are arrays of faces of the same number of corners, whose numbers are those of vertices.
    """
    from penstock.studio.modelling.topology import merged

    kept, place = merged(points)
    lines = [f"mtllib {path.stem}.mtl", f"o {path.stem}"]
    lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points[kept].tolist()]
    lines += [f"vt {u:.6f} {1 - v:.6f}" for u, v in uv.tolist()]
    lines += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in normals.tolist()]
    lines += [f"usemtl {path.stem}", "s 1"]
    places = (place + 1).tolist()
    for same in faces:
        lines += ["f " + " ".join(f"{places[n]}/{n + 1}/{n + 1}" for n in face) for face in same.tolist()]
    if texture is not None:
        with whole(path.with_suffix(".png")) as file:
            file.write_bytes(texture)
    shown = [f"map_Kd {path.stem}.png"] if texture is not None else []
    material = [f"newmtl {path.stem}", "Ka 1 1 1", "Kd 1 1 1", "Ks 0 0 0", "illum 1", *shown]
    for target, said in ((path.with_suffix(".mtl"), material), (path, lines)):
        with whole(target) as file:
            file.write_text("\n".join(said) + "\n", encoding="ascii")


def read_obj(path: Path) -> Polygons:
    """The faces of an OBJ; UnusableFile if it is none, or too much."""
    if path.stat().st_size > _LARGEST:
        raise UnusableFile(f"the OBJ is larger than {_LARGEST >> 20} MB; send a smaller one")
    try:
        return _parsed(path)
    except (ValueError, IndexError, OverflowError) as error:
        raise UnusableFile(f"the OBJ is damaged ({str(error)[:80]}); export it anew and send it again") from None


def _parsed(path: Path) -> Polygons:
    points: list[list[float]] = []
    uv: list[list[float]] = []
    faces: list[list[int]] = []
    uv_faces: list[list[int]] = []
    material = None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "v":
            points.append([float(n) for n in rest.split()[:3]])
        elif word == "vt":
            u, v = (float(n) for n in rest.split()[:2])
            uv.append([u, 1 - v])
        elif word == "f":
            if len(faces) >= _MOST_FACES:
                raise UnusableFile(f"the OBJ has more than {_MOST_FACES} faces; send a smaller one")
            corners = [corner.split("/") for corner in rest.split()]
            faces.append([_index(corner[0], len(points)) for corner in corners])
            told = all(len(corner) > 1 and corner[1] for corner in corners)
            uv_faces.append([_index(corner[1], len(uv)) for corner in corners] if told else [])
        elif word == "mtllib":
            material = rest.strip()
    if any(len(face) < 3 for face in faces):
        raise ValueError("a face has fewer than three corners")
    places = np.array(points, dtype=np.float64).reshape(-1, 3)
    if not np.isfinite(places).all():
        raise ValueError("a vertex is nowhere")
    return Polygons(places, np.array(uv, dtype=np.float64).reshape(-1, 2), faces, uv_faces, _texture(path, material))


def _index(told: str, count: int) -> int:
    """The number of what is named, from 0 on; negative ones count from the last."""
    number = int(told)
    found = number - 1 if number > 0 else count + number
    if number == 0 or not 0 <= found < count:
        raise ValueError(f"there is no {told} among {count}")
    return found


def _texture(path: Path, material: str | None) -> Path | None:
    """The picture that the material names, if it lies beside the OBJ."""
    if material is None or not _NAME.fullmatch(material):
        return None
    library = path.with_name(material)
    if not library.is_file() or library.stat().st_size > 1 << 20:
        return None
    lines = (line.split() for line in library.read_text(encoding="utf-8", errors="replace").splitlines())
    named = next((words[1] for words in lines if len(words) == 2 and words[0] == "map_Kd"), None)
    if named is None or not _NAME.fullmatch(named):
        return None
    picture = path.with_name(named)
    return picture if picture.is_file() else None
