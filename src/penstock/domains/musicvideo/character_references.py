"""Character references: pictures of characters, drawn or uploaded, for projects to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

from penstock.domains.musicvideo.errors import IncompleteOrder, NoSuchPicture
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import REFERENCE_IMAGE, CharacterReference
from penstock.errors import OutOfScope
from penstock.media.soundness import sound_image

MOST = 4
"So many are drawn at once, to choose from."


def draw_references(studio: FilmStudio, description: str, *, count: int = 1, by: str) -> Sequence[CharacterReference]:
    """Pictures of a character from a description, each another one."""
    _check_for_all(studio)
    if not description.strip():
        raise IncompleteOrder("no description of the character was given")
    if not 1 <= count <= MOST:
        raise IncompleteOrder(f"{count} pictures were asked for; ask for 1 to {MOST}")
    drawn = []
    with TemporaryDirectory(prefix="penstock-mv-") as folder:
        for seed in range(count):
            picture = Path(folder, f"{seed}.png")
            studio.providers.artist.draw(description.strip(), picture, seed=seed)
            drawn.append(_keep(studio, picture, description.strip(), by=by))
    return drawn


def upload_reference(studio: FilmStudio, picture: Path, *, by: str) -> CharacterReference:
    """A picture of a character that somebody has; UnusableFile for what is no picture."""
    _check_for_all(studio)
    sound_image(picture)
    return _keep(studio, picture, None, by=by)


def reference(studio: FilmStudio, character_id: UUID) -> CharacterReference:
    """A picture by its id."""
    _check_for_all(studio)
    found = studio.store.lookup(CharacterReference.at(character_id=character_id))
    if found is None:
        raise NoSuchPicture(f"no character reference {character_id}; upload or generate one first")
    return found


def picture_of(studio: FilmStudio, character_id: UUID) -> str:
    """Where the picture of an id lies."""
    return reference(studio, character_id).image_s3_key


def _check_for_all(studio: FilmStudio) -> None:
    """Character references are of no project, so whoever may see only one has none of them."""
    if studio.store.project is not None:
        raise OutOfScope(
            f"character references are shared by all projects, and this key is for project {studio.store.project} "
            "alone; use a key for all projects, or upload a picture to the project itself"
        )


def _keep(studio: FilmStudio, picture: Path, description: str | None, *, by: str) -> CharacterReference:
    character_id = uuid4()
    key = REFERENCE_IMAGE.key(str(character_id))
    with picture.open("rb") as file:
        studio.objects.put(key, file)
    kept = CharacterReference(
        character_id=character_id, description=description, image_s3_key=key, created_at=studio.store.clock.now()
    )
    with studio.store.change(by=by) as change:
        change.create(kept)
    return kept
