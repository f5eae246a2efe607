"""Still pictures of a model, and what pictures say about where they come from."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from typing import Any

from PIL import Image, PngImagePlugin

from penstock.studio.modelling.model import Model
from penstock.studio.modelling.posing import posed
from penstock.studio.modelling.rasteriser import Rasteriser, framing

PROVENANCE = "penstock:provenance"
"The text chunk of a PNG that says where it comes from."
THUMBNAIL = 512
_ASIDE = math.radians(-24)
"A little from the side: depth is seen, and the face too."


def thumbnail(model: Model, provenance: Mapping[str, Any]) -> bytes:
    """A square picture of the model, as it stands in its first clip."""
    positions, normals = posed(model, model.clips[0] if model.clips else None, 0.0)
    rasteriser = Rasteriser(model, size=THUMBNAIL, view=framing([positions]))
    rasteriser.focus(positions, yaw=_ASIDE)
    return _encoded(Image.fromarray(rasteriser.frame(positions, normals, yaw=_ASIDE)), provenance)


def signed_png(content: bytes, provenance: Mapping[str, Any]) -> bytes:
    """A PNG, with its provenance before its pixels, which stay as they are."""
    chunk = io.BytesIO()
    info = _info(provenance)
    Image.new("L", (1, 1)).save(chunk, "PNG", pnginfo=info)
    whole = chunk.getvalue()
    # The one chunk between the header of a PNG and its pixels.
    text = whole[33 : whole.index(b"IDAT") - 4]
    return content[:33] + text + content[33:]


def _encoded(picture: Image.Image, provenance: Mapping[str, Any]) -> bytes:
    into = io.BytesIO()
    picture.save(into, "PNG", compress_level=6, pnginfo=_info(provenance))
    return into.getvalue()


def _info(provenance: Mapping[str, Any]) -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    info.add_itxt(PROVENANCE, json.dumps(provenance, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
    return info
