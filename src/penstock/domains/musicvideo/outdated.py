"""What of a scene is older than what is said about it now: words of another concept, a clip of another director.

A scene notes what it was written and filmed from, by short digests. What has changed since is found out whenever
somebody looks; nothing is made again by itself, since that may have to be paid for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from penstock.domains.musicvideo.model import Project, Scene

_CALLED = {
    "concept": "the concept",
    "character": "the character",
    "product": "the product",
    "director": "the director",
    "prompt": "its words",
    "negative_prompt": "what is not to be seen",
    "duration": "its duration",
}


def written_from(project: Project) -> dict[str, str]:
    """What the words of a scene are made of."""
    return _digests(
        concept=project.concept_prompt,
        character=project.character_description,
        product=project.product_description,
        director=project.director_config,
    )


def filmed_from(project: Project, scene: Scene) -> dict[str, str]:
    """What a clip is made of."""
    return _digests(
        prompt=scene.prompt,
        negative_prompt=scene.negative_prompt,
        duration=scene.duration,
        character=project.character_description,
        director=project.director_config,
    )


def outdated(project: Project, scene: Scene) -> list[str]:
    """What has changed since a scene was written and filmed, in words; nothing of what is not known."""
    told = []
    if words := _changed(scene.written_from, written_from(project)):
        told.append(f"{words} changed after the scene was written; say other words, and film it again")
    if film := _changed(scene.filmed_from, filmed_from(project, scene)):
        told.append(f"{film} changed after the scene was filmed; film it again")
    return told


def _changed(before: Mapping[str, str] | None, now: Mapping[str, str]) -> str:
    return " and ".join(_CALLED[name] for name, digest in now.items() if before and before.get(name, digest) != digest)


def _digests(**values: Any) -> dict[str, str]:
    return {name: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12] for name, value in values.items()}
