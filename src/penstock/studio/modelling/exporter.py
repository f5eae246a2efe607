"""The embedded exporter of models: all that a team needs to take an asset into its game, and to see what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need
from penstock.media.whole import whole


class ModelExporter:
    """Exports a model. Two exports of one model differ in nothing but the provenance that is written into them."""

    name, version = "penstock.model-exporter", "1"

    def export(
        self, made: Path, order: AssetOrder, provenance: Mapping[str, Any], into: Path, reporter: StepReporter
    ) -> Made:
        """The asset as GLB and as OBJ with its texture, a note for engines, a thumbnail and a turntable.

        The OBJ is in quads where these were asked for.
        """
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import read_glb, write_glb
        from penstock.studio.modelling.measure import measure
        from penstock.studio.modelling.pictured import signed_png, thumbnail
        from penstock.studio.modelling.quads import in_quads
        from penstock.studio.modelling.turntable import film
        from penstock.studio.modelling.wavefront import write_obj

        told = dict(provenance)
        with for_good():
            model = read_glb(made)
            reporter.progress(0.05, "writing files")
            write_glb(model, into / "asset.glb", extras={"provenance": told})
            texture = None if model.texture is None else signed_png(model.texture, told)
            shape, joined = in_quads(model) if order.quads else (model, None)
            faces = [shape.faces.astype("int64")] if joined is None else [joined.quads, joined.triangles]
            write_obj(into / "asset.obj", shape.positions.astype("float64"), shape.normals, shape.uv, faces, texture)
            measured = measure(into / "asset.glb") | ({} if joined is None else {"quads": round(joined.share, 4)})
            _write(into / "engine.md", _note(order, measured))
            reporter.progress(0.15, "drawing a thumbnail")
            _write(into / "thumbnail.png", thumbnail(model, told))
            film(model, into / "turntable.mp4", lambda share: reporter.progress(0.2 + 0.8 * share, "filming"))
        reporter.progress(1.0)
        sizes = {path.name: path.stat().st_size for path in sorted(into.iterdir()) if path.name in _FILES}
        return Made(metrics={**measured, "files": sizes, "bytes": sum(sizes.values())})


_FILES = ("asset.glb", "asset.obj", "asset.mtl", "asset.png", "engine.md", "thumbnail.png", "turntable.mp4")


def _note(order: AssetOrder, measured: Mapping[str, Any]) -> bytes:
    from penstock.studio.modelling.engine_note import engine_note

    return engine_note(order, measured).encode()


def _write(path: Path, content: bytes) -> None:
    with whole(path) as unfinished:
        unfinished.write_bytes(content)
