"""A store with one scene, an object store beside it, and what happens between them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from penstock import Entity, FrozenClock, Store
from penstock.domains.musicvideo.model import DOMAIN, Project, Scene, SceneStatus
from penstock.files.object_reads import every
from penstock.files.reconcile import Reconciliation
from penstock.files.sweep import Sweep
from penstock.files.trash import Trash
from penstock.files.upload import Upload
from penstock.files.uploads import Uploads
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import send

PROJECT = UUID("550e8400-e29b-41d4-a716-446655440000")
FOLDER = f"mv/projects/{PROJECT}"
CLIP = f"{FOLDER}/scenes/scene_001.mp4"
MP4 = b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41" + b"frames " * 1000
OTHER_MP4 = MP4 + b"one more"
DIGEST = sha256(MP4).hexdigest()


@dataclass
class World:
    """One scene in production."""

    store: Store
    objects: ObjectStore
    clock: FrozenClock

    @property
    def uploads(self) -> Uploads:
        return Uploads(self.store, self.objects)

    @property
    def in_parts(self) -> Uploads:
        """For files that are sent in parts although they are small."""
        return Uploads(self.store, self.objects, at_once=100, part_size=5 * 1024 * 1024)

    @property
    def trash(self) -> Trash:
        return Trash(self.objects, self.clock)

    @property
    def sweep(self) -> Sweep:
        return Sweep(self.store, self.objects, [DOMAIN], owner="sweeper")

    @property
    def reconciliation(self) -> Reconciliation:
        return Reconciliation(self.store, self.objects, self.trash, [DOMAIN])

    @property
    def scene(self) -> Scene:
        return self.store.get(Scene.at(project_id=PROJECT, sequence=1))

    def points_at(self) -> str | None:
        return self.scene.video_clip_s3_key

    def begin(self) -> None:
        """The project and its scene, which is being filmed."""
        now = self.clock.now()
        self.store.ensure(DOMAIN)
        self.store.create(
            Project(project_id=PROJECT, concept_prompt="", character_description="", created_at=now, updated_at=now)
        )
        self.store.create(scene(self.clock, status=SceneStatus.PROCESSING))

    def reserve(self, uploads: Uploads | None = None, **changed: Any) -> Upload:
        return self.reserve_for(self.scene, uploads, **changed)

    def reserve_for(self, record: Entity, uploads: Uploads | None = None, **changed: Any) -> Upload:
        given = {"target": CLIP, "size": len(MP4), "content_type": "video/mp4", **changed}
        return (uploads or self.uploads).reserve(record, **given)

    def deliver(self, upload: Upload, content: bytes = MP4) -> None:
        """What the client does."""
        if upload.parts_id is None:
            assert send(self.uploads.url(upload), body=content).status == 200
        else:
            for part in self.in_parts.part_urls(upload):
                assert send(part.url, body=content[part.start : part.stop]).status == 200

    def finalize(self, upload: Upload, uploads: Uploads | None = None, **more: Any) -> None:
        """What the service does when the client says it is done."""
        with (uploads or self.uploads).finalize(upload.upload_id, **{"sha256": DIGEST, **more}) as arrived:
            found = arrived.change.get(Scene.at(project_id=PROJECT, sequence=1))
            arrived.change.save(found.finish(video_clip_s3_key=arrived.key))

    def settle(self) -> None:
        """Time passes, and the sweep with it."""
        for days in (3, 3, 10):
            self.clock.advance(timedelta(days=days))
            assert self.sweep.run() is not None


def scene(clock: FrozenClock, **fields: Any) -> Scene:
    now = clock.now()
    given = {"project_id": PROJECT, "sequence": 1, "prompt": "", "duration": 1.0, "created_at": now, "updated_at": now}
    return Scene.model_validate({**given, **fields})


def keys(world: World) -> list[str]:
    """Every object there is."""
    return sorted(found.key for found in every(world.objects))
