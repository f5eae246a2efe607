"""The kinds of files that services make: how each may be sent, how large it may be, and what makes it a sound one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock.media.glb_soundness import sound_glb
from penstock.media.picture_fit import sound_picture
from penstock.media.soundness import sound_video

_UNTOLD = ("application/octet-stream", "binary/octet-stream")
"What a host says that does not know what it sends."
_DEEPEST, _MOST_NAMED = 4, 100


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A kind of file that a model makes."""

    types: tuple[str, ...]
    "How the types begin that it may be sent as."
    names: tuple[str, ...]
    "What services call it, where their answer names more than one file."
    most_bytes: int
    check: Callable[[Path], Mapping[str, Any]]
    "What is measured of a sound one; UnusableFile of one that is damaged, of another kind, or too much."
    ending: str = ""
    "How the names of such files end, if that tells them from others; of several files it is the first one like that."

    def url_in(self, output: Any) -> str | None:
        """Where an answer says that the file is: a URL, a list of them, or an object with some in it."""
        urls = list(self._urls(output, _DEEPEST))
        alike = (url for url in urls if self.ending and _path(url).endswith(self.ending))
        return next(alike, urls[0] if urls else None)

    def _urls(self, output: Any, deep: int) -> Iterator[str]:
        if isinstance(output, str):
            yield from filter(None, [output])
        elif deep and isinstance(output, dict):
            for each in [output[name] for name in self.names if name in output]:
                yield from self._urls(each, deep - 1)
        elif deep and isinstance(output, list):
            for each in output[:_MOST_NAMED]:
                yield from self._urls(each, deep - 1)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.lower()
    except ValueError:
        return ""


def _film(path: Path) -> Mapping[str, Any]:
    sound_video(path)
    return {}


def _picture(path: Path) -> Mapping[str, Any]:
    sound_picture(path)
    return {}


def _mesh(path: Path) -> Mapping[str, Any]:
    return asdict(sound_glb(path))


FILM = MadeFile(
    types=("video/", "application/mp4", *_UNTOLD),
    names=("url", "video", "output"),
    most_bytes=1_000_000_000,
    check=_film,
)
PICTURE = MadeFile(
    types=("image/", *_UNTOLD),
    names=("url", "image", "images", "output"),
    most_bytes=50_000_000,
    check=_picture,
)
MESH = MadeFile(
    types=("model/", "application/gltf", *_UNTOLD),
    names=("url", "glb", "mesh", "model_mesh", "model_file", "model", "output"),
    most_bytes=100_000_000,
    check=_mesh,
    ending=".glb",
)
