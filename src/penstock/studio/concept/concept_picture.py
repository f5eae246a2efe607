"""The picture of an order, and what it is made of, so that it can be drawn again in other poses and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.house_style import house_style, styled
from penstock.studio.concept.painter import painted
from penstock.studio.concept.reference_picture import redrawn, reference_picture
from penstock.studio.concept.scenery import SceneryLayer, composed, place_of, scenery
from penstock.studio.concept.sketchbook import Sketched, sketched

SQUARE = (1024, 1024)
WIDE = (1280, 720)


@dataclass(frozen=True, slots=True)
class ConceptPicture:
    """A picture, and the draft or the layers it was painted from, if there are any."""

    picture: Image.Image
    subject: str
    known: bool = True
    sketch: Sketched | None = None
    layers: tuple[SceneryLayer, ...] = ()


def concept_picture(order: AssetOrder, size: tuple[int, int] | None = None) -> ConceptPicture:
    """What an order shows; the same order gives the same picture."""
    reference = reference_picture(order.reference) if order.reference is not None else None
    palette = reference.palette if reference is not None else ()
    if order.kind == "background":
        layers = tuple(scenery(order, size or WIDE, palette))
        place = place_of(f"{order.concept} {order.details}")
        return ConceptPicture(composed(list(layers)), place.words.partition("|")[0], layers=layers)
    if reference is not None and reference.subject is not None:
        words = f"{order.style} {order.concept} {order.details}"
        style = house_style(words, palette=order.palette, outline=order.outline, proportions=order.proportions)
        return ConceptPicture(redrawn(reference.subject, size or SQUARE, style), "reference")
    sketch = sketched(order, palette)
    # Finer where it is to be enlarged: steps in a line would be, too.
    drawn = painted(sketch.draft, size or SQUARE, sketch.finish, fine=2 if size else 3)
    picture = styled(drawn, sketch.style)
    return ConceptPicture(picture, sketch.subject.name, sketch.known, sketch)
