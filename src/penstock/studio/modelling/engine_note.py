"""What somebody must know to get an asset into an engine, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.generation.asset_steps import AssetOrder

_PLATFORMS = {
    "MOBILE": "On mobile devices let the engine compress the texture (ASTC 6x6) and limit it to 1024 pixels.",
    "CONSOLE": "On consoles let the engine compress the texture (BC7) with mipmaps.",
    "PC": "On PCs let the engine compress the texture (BC7) with mipmaps.",
}


def engine_note(order: AssetOrder, measured: Mapping[str, Any]) -> str:
    """The page, in Markdown."""
    clips: Mapping[str, float] = measured["clips"]
    title = " ".join(order.concept.split())[:120] or order.kind
    lines = [
        f"# {title}",
        "",
        "| | |",
        "|---|---|",
        f"| triangles | {measured['faces']} (budget {order.poly_budget}) |",
        f"| vertices | {measured['vertices']} |",
        f"| texture | {_texture(measured)} |",
        f"| size | {' x '.join(f'{side:.2f}' for side in measured['size'])} m (width, height, depth) |",
        f"| skeleton | {_joints(order, measured)} |",
        f"| clips | {', '.join(f'{name} ({seconds:g} s)' for name, seconds in clips.items()) or 'none'} |",
        f"| platform | {order.platform} |",
        "",
        "One unit is one metre. Y points up, the front looks along +Z, the origin is on the ground below the middle.",
        "",
        "## Files",
        "",
        "- `asset.glb`: everything in one file (mesh, texture, skeleton, clips). Take this one wherever you can.",
        f"- `asset.obj`, `asset.mtl`, `asset.png`: the mesh at rest{_quads(measured)} and its texture, for tools "
        "that read no glTF.",
        "- `thumbnail.png`, `turntable.mp4`: what it looks like.",
        "",
        "## Import",
        "",
        "- **Godot 4**: drop `asset.glb` into the project; an AnimationPlayer holds the clips.",
        "- **Unity**: add the package glTFast, drop `asset.glb` into Assets; scale factor 1.",
        "- **Unreal Engine 5**: import `asset.glb` with Interchange; metres become centimetres by themselves.",
        "- **Blender**: File, Import, glTF 2.0; each clip becomes an action.",
        "- **three.js**: `new GLTFLoader().load('asset.glb', ...)`; play a clip with an AnimationMixer.",
        "",
    ]
    if clips:
        lines += ["Every clip ends where it begins, so that it can be looped; walking is on the spot.", ""]
    return "\n".join([*lines, _PLATFORMS.get(order.platform, _PLATFORMS["PC"]), ""])


def _quads(measured: Mapping[str, Any]) -> str:
    return f", {measured['quads']:.0%} of it in quads," if "quads" in measured else ""


def _texture(measured: Mapping[str, Any]) -> str:
    size = measured["texture_size"]
    return f"{size[0]} x {size[1]}, sRGB, PNG" if size else "none"


def _joints(order: AssetOrder, measured: Mapping[str, Any]) -> str:
    count = measured["joints"]
    return (
        f"{order.rig}, {count} {'joint' if count == 1 else 'joints'}, at most 4 weights a vertex" if count else "none"
    )
