"""The routes of character references: pictures that any project may begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, UploadFile
from fastapi.responses import RedirectResponse

from penstock.auth.access import again, heavy, takes
from penstock.auth.caller import caller_of
from penstock.domains.musicvideo import character_references
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import CharacterReference
from penstock.domains.musicvideo.request_bodies import NewCharacter
from penstock.domains.musicvideo.route_parts import Who, received
from penstock.domains.musicvideo.views import CharacterView
from penstock.files.scratch import scratch_folder


def add_characters(router: APIRouter, studio: FilmStudio) -> None:
    """Have some drawn, bring some along, look at one."""

    def told_again(request: Request, told: dict[str, Any]) -> CharacterView:
        return get_character_reference(caller_of(request), UUID(told["character_id"]))

    def all_told_again(request: Request, told: dict[str, Any]) -> list[CharacterView]:
        return [get_character_reference(caller_of(request), UUID(one)) for one in told["character_ids"]]

    @router.post("/generate_character_reference", status_code=201)
    @again(all_told_again)
    def generate_character_reference(who: Who, body: NewCharacter) -> list[CharacterView]:
        """Have pictures of a character drawn, to choose from."""
        here = studio.used_by(who)
        drawn = character_references.draw_references(
            here, body.character_description, count=body.num_images, by=who.name
        )
        return [_character_view(here, one) for one in drawn]

    @router.post("/upload_character_reference", status_code=201)
    @takes(megabytes=11)
    @heavy("decoding")
    @again(told_again)
    def upload_character_reference(who: Who, file: UploadFile) -> CharacterView:
        """Bring a picture of a character along."""
        here = studio.used_by(who)
        with scratch_folder("musicvideo") as folder:
            picture = received(file, Path(folder, "picture"))
            return _character_view(here, character_references.upload_reference(here, picture, by=who.name))

    @router.get("/get_character_reference/{character_id}", responses={302: {"description": "To the picture."}})
    def get_character_reference(who: Who, character_id: UUID, redirect: bool = False) -> CharacterView:
        """A picture of a character: where it is, or with `redirect` the way there."""
        here = studio.seen_through(who.store)
        told = _character_view(here, character_references.reference(here, character_id))
        return RedirectResponse(told.image_url, status_code=302) if redirect else told  # type: ignore[return-value]


def _character_view(studio: FilmStudio, picture: CharacterReference) -> CharacterView:
    return CharacterView.of(picture, studio.signer(), character_reference_id=picture.character_id)
