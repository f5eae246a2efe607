"""What files in some places usually are."""

from __future__ import annotations

import pytest

from penstock.files.record_previews import likely_types


@pytest.mark.parametrize(
    ("places", "types"),
    [
        ([], []),
        (["films/{film_id}/cut.mp4"], ["video/mp4"]),
        (["a/{id}.WAV", "b/{id}.mp3", "c/{id}.wav"], ["audio/wav", "audio/mpeg"]),
        (["films/{film_id}/cut.mp4", "films/{film_id}/{name}"], []),
        (["films.mp4/{name}"], []),
    ],
    ids=["none", "one", "several", "any name will do", "a folder's name says nothing"],
)
def test_they_are_what_all_names_there_end_in(places: list[str], types: list[str]) -> None:
    assert likely_types(places) == types
