"""``penstock demo musicvideo``: a film, and a word about what it does not show."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Penstock


def test_the_demo_tells_what_it_could_not_draw(penstock: Penstock, folder: Path) -> None:
    size = ("--scenes", "1", "--seconds", "0.5", "--size", "160x90")
    said = penstock("demo", "musicvideo", "A cat plays bagpipes", "--character", "A cat", *size, "-o", "film.mp4")
    assert said.code == 0, said.err
    assert (folder / "film.mp4").stat().st_size > 1000
    assert "Not drawn: bagpipes (scene 1)\n" in said.out
