"""An order in words, for a model that turns words into a picture."""

from __future__ import annotations

from penstock.generation.asset_steps import AssetOrder

BACKGROUND = "background"
_LONGEST = 4000
_WHAT = {
    "character": "One character for a game, the whole figure from head to foot",
    "prop": "One object for a game, all of it",
    "sprite": "One figure for a two-dimensional game, the whole of it, seen from the side",
    BACKGROUND: "A wide scene, the background of a game, empty of figures",
}
_STANCE = {
    "HUMANOID": "standing upright and facing the viewer, arms held away from the body, legs apart",
    "QUADRUPED": "standing on four legs, seen from the side",
}
_ALONE = "in the middle of the picture, alone, on a plain white ground without a shadow"
_PROPORTIONS = {
    "chibi": "chibi proportions, with a large head on a small body",
    "heroic": "heroic proportions, with broad shoulders and long legs",
    "realistic": "realistic proportions",
}
_OUTLINES = ((0.01, "no outlines"), (0.34, "thin outlines"), (0.67, "clear outlines"), (1.01, "thick outlines"))
_NOT_WANTED = "text, watermark, signature, frame, border"
_NOT_OF_A_SUBJECT = "cropped, several figures, scenery, shadow on the ground"


def prompt_of(order: AssetOrder) -> str:
    """What is to be seen: what was asked for first, then how it is to stand and look."""
    what = _WHAT.get(order.kind, _WHAT["prop"])
    stance = _STANCE.get(order.rig) if order.kind == "character" else None
    where = None if order.kind == BACKGROUND else _ALONE
    looks = ", ".join(filter(None, [_PROPORTIONS.get(order.proportions or ""), _outlines(order.outline)]))
    parts = [
        order.concept,
        order.details,
        ", ".join(filter(None, [what, stance, where])),
        f"Style: {order.style}" if order.style else "",
        looks[:1].upper() + looks[1:],
        f"Colours: {', '.join(order.palette)}" if order.palette else "",
    ]
    return "\n".join(part.strip().rstrip(".") + "." for part in parts if part.strip())[:_LONGEST]


def negative_prompt_of(order: AssetOrder) -> str:
    """What is not to be seen."""
    return _NOT_WANTED if order.kind == BACKGROUND else f"{_NOT_WANTED}, {_NOT_OF_A_SUBJECT}"


def _outlines(thickness: float | None) -> str | None:
    return None if thickness is None else next(words for below, words in _OUTLINES if min(thickness, 1.0) < below)
