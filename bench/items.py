"""The music-video scenes every contender reads and writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

PROJECT = UUID("550e8400-e29b-41d4-a716-446655440000")
"The project whose 100 scenes are read."
DRAFTS = UUID("0b0e6a5c-51a3-4f0c-9e53-6a6d1d6f2c11")
"The project that is written to, so that puts never change what reads expect."

SCENES = 100
WEIGHT = 1024
"Bytes to which the prompt pads a scene, as plain JSON; DynamoDB counts about as many for the item."

WIRE = {
    "project_id": "projectId",
    "sequence": "sequence",
    "status": "status",
    "prompt": "prompt",
    "negative_prompt": "negativePrompt",
    "duration": "duration",
    "reference_image_s3_keys": "referenceImageS3Keys",
    "video_clip_s3_key": "videoClipS3Key",
    "needs_lip_sync": "needsLipSync",
    "lip_synced_video_clip_s3_key": "lipSyncedVideoClipS3Key",
    "retry_count": "retryCount",
    "created_at": "createdAt",
    "updated_at": "updatedAt",
}
"The seed document's attribute name of each field."

SHOT = "Robot walking through downtown Austin at dusk, neon reflections on wet asphalt, slow dolly shot. "


def fields(sequence: int, *, project: UUID = PROJECT, retries: int = 0) -> dict[str, object]:
    """One scene under Python names, with the id and the timestamps as the text that goes on the wire."""
    folder = f"mv/projects/{project}"
    scene: dict[str, object] = {
        "project_id": str(project),
        "sequence": sequence,
        "status": "completed",
        "prompt": f"Take {sequence}. ",
        "negative_prompt": "No other people, no text, no watermark",
        "duration": 4.5 + sequence % 8,
        "reference_image_s3_keys": [f"{folder}/character.png", f"{folder}/product.jpg"],
        "video_clip_s3_key": f"{folder}/scenes/scene_{sequence:03d}.mp4",
        "needs_lip_sync": sequence % 2 == 1,
        "lip_synced_video_clip_s3_key": f"{folder}/scenes/scene_{sequence:03d}_lipsync.mp4",
        "retry_count": retries,
        "created_at": f"2025-11-17T10:05:{sequence % 60:02d}Z",
        "updated_at": f"2025-11-17T10:10:{sequence % 60:02d}Z",
    }
    missing = WEIGHT - len(json.dumps(_named(scene)).encode())
    scene["prompt"] = f"{scene['prompt']}{SHOT * 20}"[: len(str(scene["prompt"])) + missing]
    return scene


def drafts() -> tuple[dict[str, object], dict[str, object]]:
    """Two versions of one scene to put in turn, so that an ORM cannot skip a write that changes nothing."""
    return fields(1, project=DRAFTS, retries=0), fields(1, project=DRAFTS, retries=1)


def item(scene: Mapping[str, object]) -> dict[str, object]:
    """The DynamoDB item of a scene as plain Python values."""
    return _key(str(scene["project_id"]), scene["sequence"]) | {"entityType": "scene"} | _named(scene)


def record(scene: Mapping[str, object]) -> dict[str, object]:
    """The same under Python names, as the typed models take it."""
    pk, sk = _key(str(scene["project_id"]), scene["sequence"]).values()
    return {"pk": pk, "sk": sk, "entity_type": "scene", **scene}


def key(sequence: int) -> dict[str, object]:
    """The primary key of a scene that is read."""
    return _key(str(PROJECT), sequence)


def typed(item: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """The same item in DynamoDB's JSON, each value under its type."""
    return {name: _typed(value) for name, value in item.items()}


def untyped(item: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """The plain values of an item in DynamoDB's JSON."""
    return {name: _untyped(value) for name, value in item.items()}


def from_item(item: Mapping[str, object]) -> dict[str, object]:
    """The fields in an item, under their Python names."""
    return {name: item[wire] for name, wire in WIRE.items()}


def same(left: Mapping[str, object], right: Mapping[str, object]) -> bool:
    """Whether two scenes hold the same values, whichever types a client gives them."""
    return all(_comparable(left[name]) == _comparable(right[name]) for name in WIRE)


def _named(scene: Mapping[str, object]) -> dict[str, object]:
    return {wire: scene[name] for name, wire in WIRE.items()}


def _key(project: str, sequence: object) -> dict[str, object]:
    return {"PK": f"PROJECT#{project}", "SK": f"SCENE#{int(str(sequence)):03d}"}


def _typed(value: object) -> dict[str, object]:
    match value:
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": str(value)}
        case list():
            return {"L": [_typed(part) for part in value]}
        case _:
            return {"S": value}


def _untyped(value: Mapping[str, object]) -> object:
    ((kind, inner),) = value.items()
    match kind, inner:
        case "N", str():
            return Decimal(inner)
        case "L", list():
            return [_untyped(part) for part in inner]
        case _:
            return inner


def _comparable(value: object) -> object:
    match value:
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        case UUID():
            return str(value)
        case Decimal():
            return float(value)
        case list() | tuple():
            return [_comparable(part) for part in value]
        case _:
            return value
