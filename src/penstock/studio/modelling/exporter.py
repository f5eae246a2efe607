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
        """The asset as GLB and as OBJ with its texture, a note for engines, a thumbnail and a turntable."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.modelling.glb import read_glb, write_glb
        from penstock.studio.modelling.pictured import signed_png, texture_size, thumbnail
        from penstock.studio.modelling.turntable import film
        from penstock.studio.modelling.wavefront import write_obj

        told = dict(provenance)
        with for_good():
            model = read_glb(made)
            reporter.progress(0.05, "writing files")
            write_glb(model, into / "asset.glb", extras={"provenance": told})
            write_obj(model, into / "asset.obj", texture="asset.png" if model.texture is not None else None)
            if model.texture is not None:
                _write(into / "asset.png", signed_png(model.texture, told))
            measured = _measured(read_glb(into / "asset.glb"), texture_size)
            _write(into / "engine.md", _note(order, measured))
            reporter.progress(0.15, "drawing a thumbnail")
            _write(into / "thumbnail.png", thumbnail(model, told))
            film(model, into / "turntable.mp4", lambda share: reporter.progress(0.2 + 0.8 * share, "filming"))
        reporter.progress(1.0)
        sizes = {path.name: path.stat().st_size for path in sorted(into.iterdir()) if path.name in _FILES}
        return Made(metrics={**measured, "bytes": sizes})


_FILES = ("asset.glb", "asset.obj", "asset.mtl", "asset.png", "engine.md", "thumbnail.png", "turntable.mp4")


def _note(order: AssetOrder, measured: Mapping[str, Any]) -> bytes:
    from penstock.studio.modelling.engine_note import engine_note

    return engine_note(order, measured).encode()


def _write(path: Path, content: bytes) -> None:
    with whole(path) as unfinished:
        unfinished.write_bytes(content)


def _measured(model: Any, texture_size: Any) -> dict[str, Any]:
    """What is in the file that was written."""
    low, high = model.positions.min(axis=0), model.positions.max(axis=0)
    return {
        "faces": len(model.faces),
        "vertices": len(model.positions),
        "joints": 0 if model.skeleton is None else len(model.skeleton.names),
        "clips": {clip.name: round(clip.seconds, 3) for clip in model.clips},
        "texture_size": texture_size(model.texture),
        "size": [round(float(side), 4) for side in high - low],
    }
