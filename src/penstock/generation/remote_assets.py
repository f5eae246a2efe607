"""Pictures of assets, and meshes after them, from a prediction-style service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.model_input import MOST_INLINE, ModelInput, beside
from penstock.generation.picture_words import BACKGROUND, negative_prompt_of, prompt_of
from penstock.generation.predictions import Predictions
from penstock.generation.steps import Made, StepReporter
from penstock.media.errors import UnusableFile
from penstock.media.picture_fit import fit_background, fit_subject, sound_picture

PICTURE_FIELDS = {
    "prompt": "prompt",
    "negative_prompt": "negative_prompt",
    "seed": "seed",
    "width": "width",
    "height": "height",
    "reference": "image",
}
"What models call the parts of a picture that is ordered; `aspect_ratio` is 1:1 or 16:9."
MESH_FIELDS = {"picture": "image", "seed": "seed"}
"What models call the parts of a mesh that is ordered; `faces` is its budget, `prompt` what was asked for."
PICTURE_PARTS = frozenset({*PICTURE_FIELDS, "aspect_ratio"})
MESH_PARTS = frozenset({*MESH_FIELDS, "prompt", "faces"})
SQUARE, WIDE = (1024, 1024), (1280, 720)
"Pixels of a picture of something, and of a background."


class PredictedPicture:
    """Draws by a model that turns words, and perhaps a picture, into a picture.

    A subject on a plain ground is cut out; a ground that cannot be told from it stays, and the metrics say so.
    """

    def __init__(
        self,
        predictions: Predictions,
        *,
        fields: Mapping[str, str] = PICTURE_FIELDS,
        always: Mapping[str, Any] | None = None,
        most_inline: int = MOST_INLINE,
    ) -> None:
        self._predictions, self._told = predictions, ModelInput(fields, PICTURE_PARTS, always, most_inline)
        self.name, self.version = predictions.host, predictions.model

    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        is_background = order.kind == BACKGROUND
        size = WIDE if is_background else SQUARE
        fit = fit_background if is_background else fit_subject
        with beside(into) as folder:
            picture = Path(folder) / "made"
            made = self._predictions.make(self._input(order, size), picture, reporter, job=order.job, order=order.order)
            try:
                fitted = fit(picture, into, size=size)
            except UnusableFile as wrong:
                raise self._predictions.useless(wrong) from wrong
        return _told(made, self._predictions, asdict(fitted) | {"ground": fitted.ground.value})

    def _input(self, order: AssetOrder, size: tuple[int, int]) -> dict[str, Any]:
        if order.reference is not None and "reference" in self._told:
            with for_good():
                sound_picture(order.reference)
        return self._told.of(
            {
                "prompt": prompt_of(order),
                "negative_prompt": negative_prompt_of(order),
                "seed": order.seed,
                "width": size[0],
                "height": size[1],
                "aspect_ratio": "16:9" if size == WIDE else "1:1",
                "reference": order.reference,
            }
        )


class PredictedMesh:
    """Models by a model that turns a picture into a mesh; what comes is kept as it is, once it is found to be sound."""

    def __init__(
        self,
        predictions: Predictions,
        *,
        fields: Mapping[str, str] = MESH_FIELDS,
        always: Mapping[str, Any] | None = None,
        most_inline: int = MOST_INLINE,
    ) -> None:
        self._predictions, self._told = predictions, ModelInput(fields, MESH_PARTS, always, most_inline)
        self.name, self.version = predictions.host, predictions.model

    def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        with for_good():
            sound_picture(picture)
        told = {"picture": picture, "seed": order.seed, "prompt": order.concept, "faces": order.poly_budget}
        with beside(into) as folder:
            mesh = Path(folder) / "made.glb"
            made = self._predictions.make(self._told.of(told), mesh, reporter, job=order.job, order=order.order)
            mesh.replace(into)
        return _told(made, self._predictions)


def _told(made: Made, predictions: Predictions, measured: Mapping[str, Any] | None = None) -> Made:
    """What was made, with what was measured of it, and who has made it."""
    by = {"provider": predictions.host, "model": predictions.model}
    return Made(made.cost, {**made.metrics, **(measured or {}), **by})
