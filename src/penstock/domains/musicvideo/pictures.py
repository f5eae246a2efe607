"""Character references: pictures of characters, drawn or uploaded, for projects to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

from penstock.domains.musicvideo import object_keys as places
from penstock.domains.musicvideo.errors import BadRequest, NoSuchPicture
from penstock.domains.musicvideo.model import CharacterReference
from penstock.domains.musicvideo.studio import Studio
from penstock.errors import OutOfScope
from penstock.media.soundness import sound_image

MOST = 4
"So many are drawn at once, to choose from."


def draw_references(studio: Studio, description: str, *, count: int = 1, by: str) -> Sequence[CharacterReference]:
    """Pictures of a character from a description, each another one."""
    _check_for_all(studio)
    if not description.strip():
        raise BadRequest("no description of the character was given")
    if not 1 <= count <= MOST:
        raise BadRequest(f"{count} pictures were asked for; ask for 1 to {MOST}")
    drawn = []
    with TemporaryDirectory(prefix="penstock-mv-") as folder:
        for seed in range(count):
            picture = Path(folder, f"{seed}.png")
            studio.crew.artist.draw(description.strip(), picture, seed=seed)
            drawn.append(_keep(studio, picture, description.strip(), by=by))
    return drawn


def upload_reference(studio: Studio, picture: Path, *, by: str) -> CharacterReference:
    """A picture of a character that somebody has; UnusableFile for what is no picture."""
    _check_for_all(studio)
    sound_image(picture)
    return _keep(studio, picture, None, by=by)


def reference(studio: Studio, character_id: UUID) -> CharacterReference:
    """A picture by its id."""
    _check_for_all(studio)
    found = studio.store.lookup(CharacterReference.at(character_id=character_id))
    if found is None:
        raise NoSuchPicture(f"no character reference {character_id}; upload or generate one first")
    return found


def picture_of(studio: Studio, character_id: UUID) -> str:
    """Where the picture of an id lies."""
    return reference(studio, character_id).image_s3_key


def _check_for_all(studio: Studio) -> None:
    """Character references are of no project, so whoever may see only one has none of them."""
    if studio.store.project is not None:
        raise OutOfScope(
            f"character references are shared by all projects, and this key is for project {studio.store.project} "
            "alone; use a key for all projects, or upload a picture to the project itself"
        )


def _keep(studio: Studio, picture: Path, description: str | None, *, by: str) -> CharacterReference:
    character_id = uuid4()
    key = places.character_reference(character_id)
    with picture.open("rb") as file:
        studio.objects.put(key, file)
    kept = CharacterReference(
        character_id=character_id, description=description, image_s3_key=key, created_at=studio.store.clock.now()
    )
    with studio.store.change(by=by) as change:
        change.create(kept)
    return kept
