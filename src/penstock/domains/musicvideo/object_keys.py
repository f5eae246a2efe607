"""Where the files of a music video lie, as the documents name them."""

from __future__ import annotations

from uuid import UUID

from penstock.domains.musicvideo.model import Scene


def character(project_id: UUID) -> str:
    return f"mv/projects/{project_id}/character.png"


def product(project_id: UUID) -> str:
    return f"mv/projects/{project_id}/product.jpg"


def audio(project_id: UUID) -> str:
    return f"mv/projects/{project_id}/audio.mp3"


def final(project_id: UUID) -> str:
    return f"mv/projects/{project_id}/final.mp4"


def final_thumbnail(project_id: UUID) -> str:
    return f"mv/projects/{project_id}/final.jpg"


def clip(scene: Scene) -> str:
    return f"{_scenes(scene)}/scene_{scene.sequence:03d}.mp4"


def thumbnail(scene: Scene) -> str:
    return f"{_scenes(scene)}/scene_{scene.sequence:03d}.jpg"


def scene_audio(scene: Scene) -> str:
    return f"{_scenes(scene)}/audio_{scene.sequence:03d}.mp3"


def lip_synced(scene: Scene) -> str:
    return f"{_scenes(scene)}/scene_{scene.sequence:03d}_lipsync.mp4"


def working_clip(scene: Scene, moment: int) -> str:
    return f"{_scenes(scene)}/{scene.sequence:03d}/working_clip_{moment}.mp4"


def incoming(scene: Scene, name: str) -> str:
    """Where an uploaded film waits until it becomes the clip."""
    return f"{_scenes(scene)}/{scene.sequence:03d}/upload_{name}.mp4"


def character_reference(character_id: UUID) -> str:
    return f"mv/outputs/character_reference/{character_id}.png"


def _scenes(scene: Scene) -> str:
    return f"mv/projects/{scene.project_id}/scenes"
