"""Light on somebody: what falls on all of a figure, and on its edge."""

from __future__ import annotations

from dataclasses import dataclass

from PIL import Image, ImageChops

from penstock.studio.drawing.colour import WHITE, Colour, lighter, lit, mix


@dataclass(frozen=True, slots=True)
class Light:
    """What falls on a figure: on all of it, and on its edge from where the sun is."""

    colour: Colour
    edge: Colour
    from_left: bool = True


def relit(picture: Image.Image, light: Light, unit: float) -> Image.Image:
    """A drawing as it looks in a light, with a bright edge on the side the light comes from."""
    alpha = picture.getchannel("A")
    solid = picture.convert("RGB")
    solid = ImageChops.multiply(solid, Image.new("RGB", solid.size, light.colour))
    step = max(round(unit * 0.022), 1)
    moved = ImageChops.offset(alpha, step if light.from_left else -step, step // 2)
    edge = ImageChops.subtract(alpha, moved).point([round(v * 0.62) for v in range(256)])
    solid.paste(light.edge, (0, 0), edge)
    solid.putalpha(alpha)
    return solid


def figure_light(light: Colour, sun: Colour, *, from_left: bool) -> Light:
    """Somebody in the light of a scene: never so dark that one cannot see who it is."""
    return Light(mix(light, WHITE, 0.62), lit(lighter(sun, 0.2), lighter(light, 0.4)), from_left)
