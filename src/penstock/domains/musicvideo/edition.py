"""Editions: what people have said of a project or a scene, told apart by an ETag, so that nobody overwrites another's.

An ETag is of the words that can be edited, not of all the record: what workers write meanwhile is in nobody's way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from penstock.domains.musicvideo.errors import EditedMeanwhile
from penstock.domains.musicvideo.model import Project, Scene
from penstock.kernel.unchanged import unchanged
from penstock.operations.conditions import Condition

_EDITED: Mapping[type[Any], tuple[str, ...]] = {
    Project: ("concept_prompt", "character_description", "product_description", "director_config"),
    Scene: ("prompt", "negative_prompt", "lyrics", "duration", "needs_lip_sync"),
}


def etag_of(record: Project | Scene) -> str:
    """Which edition it is."""
    said = [str(record.ref), *(getattr(record, name) for name in _EDITED[type(record)])]
    return f'"{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]}"'


def check_edition(record: Project | Scene, if_match: str | None) -> Condition:
    """Refuse to change what is not the edition that was read; that it is still so, for the commit."""
    wanted = [] if if_match is None else [tag.strip() for tag in if_match.split(",")]
    if wanted and "*" not in wanted and etag_of(record) not in wanted:
        raise EditedMeanwhile(f"{record.ref!r} has been edited since it was read")
    return unchanged(record, [*_EDITED[type(record)]])
