"""The embedded retoucher: a clean edge, crisp at twice the size, whoever drew the picture."""

from __future__ import annotations

from pathlib import Path

from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need
from penstock.media.whole import whole

LONGEST = 2048


class Retoucher:
    """Refines a picture. The same picture and order give the same bytes."""

    name = "penstock.retoucher"
    version = "1"

    def refine(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        """A PNG of 2048 pixels on its long side; the metrics tell what was done to it."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.concept.house_style import house_style
        from penstock.studio.concept.picture_file import cut_out, opened_safely, save
        from penstock.studio.concept.retouch import cleaned, enlarged

        with for_good():
            given = opened_safely(picture, longest=LONGEST)
        operations = []
        metrics: dict[str, object] = {}
        if order.kind != "background":
            cut, operation = cut_out(given)
            operations += operation
            reporter.progress(0.3, "cleaning the edge")
            found = cleaned(cut)
            given = found.picture
            operations += ["decontaminate"]
            operations += ["remove specks"] * bool(found.specks) + ["fill holes"] * bool(found.holes)
            metrics |= {"specks": found.specks, "holes": found.holes, "fringe_pixels": found.fringe}
        reporter.progress(0.6, "enlarging")
        blocks = house_style(f"{order.style} {order.concept} {order.details}").name == "pixel"
        large = enlarged(given, LONGEST, blocks=blocks)
        operations += ["upscale", *([] if blocks else ["sharpen"])]
        with whole(into) as unfinished:
            save(large, unfinished)
        reporter.progress(1.0)
        metrics |= {"operations": operations, "width": large.width, "height": large.height}
        return Made(metrics={**metrics, "bytes": into.stat().st_size})
