"""The embedded concept artist: draws what an order asks for, from its words, without any model."""

from __future__ import annotations

from pathlib import Path

from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need
from penstock.media.whole import whole


class ConceptArtist:
    """Draws characters, props, sprites and backgrounds. The same order gives the same bytes, another seed varies."""

    name = "penstock.concept-artist"
    version = "1"

    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A PNG of 1024 pixels on its long side or more; what was recognised in the words is among the metrics."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.concept.concept_picture import concept_picture
        from penstock.studio.concept.picture_file import save

        reporter.progress(0.05, "sketching")
        with for_good():
            drawn = concept_picture(order)
        reporter.progress(0.8, "saving")
        with whole(into) as picture:
            save(drawn.picture, picture)
        reporter.progress(1.0)
        width, height = drawn.picture.size
        metrics = {"subject": drawn.subject, "recognised": drawn.known, "width": width, "height": height}
        return Made(metrics={**metrics, "bytes": into.stat().st_size})
