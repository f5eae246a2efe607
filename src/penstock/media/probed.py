"""What is known of a media file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class MediaKind(StrEnum):
    VIDEO = "video"
    AUDIO = "audio"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class PictureTrack:
    """What is seen: the film, or the image. Of several films it is the best."""

    index: int
    "Which of the file's streams."
    codec: str
    pixel_format: str
    width: int
    height: int
    "Both as they are shown, after the rotation."
    rotation: int = 0
    "Degrees counterclockwise, 0 to 359, that were needed to show it upright."
    pixel_aspect: float = 1.0
    "How wide a pixel is shown for its height, after the rotation."
    has_alpha: bool = False
    frames: int = 1
    fps: float = 0.0
    "On average; 0 for an image that stands still."
    variable_rate: bool = False
    start: float = 0.0
    "Seconds from the beginning of the file to the first frame."
    duration: float = 0.0
    first: float = 0.0
    "What the file's own clock shows at the first frame, which may be less than 0."
    pace: float = 0.0
    "Frames a second as they follow each other when none is left out."
    jitter: float = 0.0
    "By how much of a frame some are shown earlier or later than in a film of constant rate."
    key_frames: int = 1
    "How many can be decoded without another."
    interlaced: bool = False
    matrix: str = ""
    "How colours become brightness and differences: bt601, bt709, another name, or nothing if the film does not say."
    full_range: bool = False
    "Whether black is 0 and not 16."


@dataclass(frozen=True, slots=True)
class SoundTrack:
    """What is heard; of several the best that belongs to the film."""

    index: int
    codec: str
    sample_rate: int
    channels: int
    duration: float
    first: float = 0.0
    "What the file's own clock shows at the first sample, which may be less than 0."


@dataclass(frozen=True, slots=True)
class Probed:
    """A media file. Lengths are in seconds and measured; ``duration`` is that of the film, or of the sound alone."""

    kind: MediaKind
    container: str
    duration: float
    streams: int = 1
    "All of them, subtitles and second tracks too."
    packets: int = 0
    picture: PictureTrack | None = None
    sound: SoundTrack | None = None
    claimed: float | None = None
    "How long the file says that it is."
    measured: float = 0.0
    "When the last of its streams ends."

    @classmethod
    def of(cls, told: dict[str, Any]) -> Probed:
        """As another process tells it."""
        picture, sound = told["picture"], told["sound"]
        nested = {"picture": picture and PictureTrack(**picture), "sound": sound and SoundTrack(**sound)}
        return cls(**{**told, **nested, "kind": MediaKind(told["kind"])})
