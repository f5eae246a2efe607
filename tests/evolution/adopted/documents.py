"""What the documents' own code has written by the day that Penstock comes: a music video's table, and speech."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

Item = dict[str, Any]

# DynamoDB Local removes what has ended by the machine's clock.
SPOKEN = datetime(2037, 12, 8, 13, 2, 19, 123000, tzinfo=UTC)
PENDING, WORKED_ON, BY_HAND, LEFT_BEHIND, EXTENDED, BROKEN = (UUID(int=n, version=4) for n in range(1, 7))
AUDIO, LATER_AUDIO, ODD_AUDIO, OLD_EPOCHS = (UUID(int=n, version=4) for n in range(11, 15))
MOMENT = "2025-11-17T10:00:00Z"


def project_item(project_id: UUID, **more: Any) -> Item:
    """A project as the documents' example has it."""
    item = {
        "PK": f"PROJECT#{project_id}",
        "SK": "METADATA",
        "entityType": "project",
        "projectId": str(project_id),
        "status": "pending",
        "conceptPrompt": "Robot exploring Austin, Texas",
        "characterDescription": "Silver metallic humanoid robot",
        "sceneCount": 0,
        "completedScenes": 0,
        "failedScenes": 0,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "GSI1PK": "pending",
        "GSI1SK": MOMENT,
    }
    return {**item, **more}


def scene_item(project_id: UUID, sequence: int, **more: Any) -> Item:
    """A scene as the documents' example has it."""
    item = {
        "PK": f"PROJECT#{project_id}",
        "SK": f"SCENE#{sequence:03d}",
        "entityType": "scene",
        "projectId": str(project_id),
        "sequence": sequence,
        "status": "pending",
        "prompt": "Robot walking through downtown Austin",
        "duration": 8,
        "needsLipSync": False,
        "retryCount": 0,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
    }
    return {**item, **more}


GOOD = [
    project_item(PENDING),
    project_item(WORKED_ON, status="processing", GSI1PK="processing", sceneCount=2),
    scene_item(WORKED_ON, 1, referenceImageS3Keys=[f"mv/projects/{WORKED_ON}/character.png"], negativePrompt="people"),
    scene_item(WORKED_ON, 2, needsLipSync=True),
]
"Saved by the documents' model."
PLACED_WRONGLY = project_item(LEFT_BEHIND, status="failed")
"Its status was changed without the attribute of the index."
EXTENDED_ITEM = project_item(EXTENDED, ownerEmail="ann@example.com")
DAMAGED = [
    project_item(BROKEN, status="finished", GSI1PK="finished"),
    scene_item(BROKEN, 1, duration="eight"),
    scene_item(BROKEN, 2, videoClipS3Key="https://bucket.s3.amazonaws.com/clip.mp4"),
]
UNPADDED = {**scene_item(BROKEN, 3), "SK": "SCENE#3"}


def audio_item(audio_id: UUID, *, at: datetime = SPOKEN, **more: Any) -> Item:
    """An audio as the plan's table of attributes has it; with the URL that nobody should keep."""
    day, second = at.date().isoformat(), int(at.timestamp())
    item = {
        "date": day,
        "audio_id": str(audio_id),
        "s3_key": f"temp-audio/{day}/{audio_id}.wav",
        "s3_url": "https://bucket.s3.amazonaws.com/temp-audio/",
        "text": "Hello world test",
        "voice_id": "en_US-lessac-medium",
        "duration": 1.32,
        "file_size_bytes": 45000,
        "ip_address": "192.168.1.100",
        "created_at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "created_at_unix": second,
        "ttl": second + 86400,
    }
    return {**item, **more}


AUDIOS = [audio_item(AUDIO), audio_item(LATER_AUDIO, at=SPOKEN.replace(hour=18), status="completed")]
ODD = audio_item(ODD_AUDIO, created_at=SPOKEN.isoformat())
"As Python writes moments."
BROKEN_AUDIO = audio_item(OLD_EPOCHS, created_at_unix=2128337339, ttl=2128423739)
"Its epochs are of another day than its date, as in the plan's own example."


def as_row(item: Item) -> Item:
    """The same in columns, as somebody would write it by hand."""
    given = {n: v for n, v in item.items() if n not in ("PK", "SK", "entityType", "GSI1PK", "GSI1SK")}
    return {re.sub("([A-Z]|S3)", r"_\1", n).lower().replace("__", "_"): _plain(v) for n, v in given.items()}


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value
