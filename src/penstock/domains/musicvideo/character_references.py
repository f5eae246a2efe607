"""Character references: pictures of characters, drawn or uploaded, for projects to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from penstock.domains.musicvideo.errors import IncompleteOrder, NoSuchPicture
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import REFERENCE_IMAGE, CharacterReference
from penstock.errors import Conflict, OutOfScope
from penstock.files.object_reads import lookup
from penstock.files.scratch import scratch_folder
from penstock.kernel.idempotency import new_id
from penstock.media.soundness import sound_image

MOST = 4
"So many are drawn at once, to choose from."


def draw_references(studio: FilmStudio, description: str, *, count: int = 1, by: str) -> Sequence[CharacterReference]:
    """Pictures of a character from a description, each from another side."""
    _check_for_all(studio)
    if not description.strip():
        raise IncompleteOrder("no description of the character was given")
    if not 1 <= count <= MOST:
        raise IncompleteOrder(f"{count} pictures were asked for; ask for 1 to {MOST}")
    with scratch_folder("musicvideo") as folder:
        drawn = []
        for seed in range(count):
            reference = _new(studio, seed, description.strip())
            # A try that died may have drawn it, which may have been paid for.
            if studio.once is None or lookup(studio.objects, reference.image_s3_key) is None:
                picture = Path(folder, f"{seed}.png")
                made = studio.providers.artist.draw(description.strip(), picture, seed=seed)
                reference.not_drawn = list(made.not_drawn) if made.not_drawn else None
                _put(studio, reference, picture)
            drawn.append(reference)
    with studio.store.change(by=by, once=studio.once) as change:
        for reference in drawn:
            change.create(reference)
        change.result = {"character_ids": [str(reference.character_id) for reference in drawn]}
    return drawn


def upload_reference(studio: FilmStudio, picture: Path, *, by: str) -> CharacterReference:
    """A picture of a character that somebody has; UnusableFile for what is no picture."""
    _check_for_all(studio)
    sound_image(picture)
    reference = _new(studio, 0, None)
    _put(studio, reference, picture)
    with studio.store.change(by=by, once=studio.once) as change:
        change.create(reference)
        change.result = {"character_id": str(reference.character_id)}
    return reference


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


def _new(studio: FilmStudio, number: int, description: str | None) -> CharacterReference:
    character_id = new_id(studio.once, f"character {number}")
    return CharacterReference(
        character_id=character_id,
        description=description,
        image_s3_key=REFERENCE_IMAGE.key(str(character_id)),
        created_at=studio.store.clock.now(),
    )


def _put(studio: FilmStudio, reference: CharacterReference, picture: Path) -> None:
    # Whatever stands there is of another try of the same request, which may be the one that has succeeded.
    with picture.open("rb") as file, suppress(Conflict):
        studio.objects.put(reference.image_s3_key, file, absent=True)
